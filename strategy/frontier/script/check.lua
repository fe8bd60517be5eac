-- Checks that the frontier is complete. Changes nothing.
-- ARGV: layout, and the value that the key settings must have.
-- Returns what is wrong ('' if nothing is, 'settings' if only the settings differ), the epoch,
-- and the highest token of a lease.
local layout, epoch = (redis.call('GET', EPOCH) or ''):match('^(%d+):(%d+)$')
local settings = redis.call('GET', SETTINGS)
local numbers, pairs_of = {}, redis.call('HGETALL', COUNTS)
for i = 1, #pairs_of, 2 do numbers[pairs_of[i]] = tonumber(pairs_of[i + 1]) end

local function wrong()
  if not redis.call('GET', EPOCH) then return 'Redis holds none that is open' end
  if layout ~= ARGV[1] then return 'it was built by another version of the program' end
  if not settings then return 'it has lost a part, or was told what is not true' end
  local entries = filled_in_all()
  if redis.call('EXISTS', RUNS) ~= (numbers.retires or 0) then return 'it has lost which runs it needs' end
  if entries ~= (numbers.fill or 0) then return 'it has ' .. entries .. ' entries of ' .. (numbers.fill or 0) end
  local leases = redis.call('ZRANGE', LEASES, 0, -1)
  for i, version in ipairs(leases) do leases[i] = PREFIX .. 'lease:' .. version end
  if #leases > 0 and redis.call('EXISTS', unpack(leases)) < #leases then return 'what is on lease is gone' end
  if settings ~= ARGV[2] then return 'settings' end
  return ''
end
return { wrong(), epoch or '0', numbers.token or 0 }
