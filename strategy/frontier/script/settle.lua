-- ARGV: version, earliest time of the host's next request, '1' if these are
-- the last outcomes of the batch, the host's failures, the number of final
-- states, identity and final state of each, then the elements of the URLs to be
-- tried again.
-- Returns {decided, waiting again, leases ended}.
local version, finals = ARGV[1], tonumber(ARGV[5])
local retries = 6 + 2 * finals
local ids = {}
for i = 6, retries - 1, 2 do ids[#ids + 1] = ARGV[i] end
for i = retries, #ARGV do ids[#ids + 1] = identity(ARGV[i]) end
read(ids)

local decided, waits, ended = 0, 0, 0
for i = 6, retries - 1, 2 do
  decided = decided + decide(ARGV[i], ARGV[i + 1])
end
local host = redis.call('LINDEX', PREFIX .. 'lease:' .. version, 0) -- while it is out
for i = retries, #ARGV do
  local element = ARGV[i]
  local id, attempts = identity(element), element:sub(19, 19)
  local before = state[id]
  if host and leased_by(id, version) then
    become(id, waiting(element))
    redis.call('RPUSH', queue_of(host, element), element)
    waits = waits + 1
  elseif pending(before) and attempts:byte() > before:byte(4) then -- late, but it was asked
    become(id, before:sub(1, 3) .. attempts .. before:sub(5))
  end
end
if ARGV[3] == '1' and redis.call('ZREM', LEASES, version) == 1 then
  ended = 1
  waits = waits + finish(version, tonumber(ARGV[2]))
  if ARGV[4] == '0' then
    redis.call('HDEL', FAILURES, host)
  else
    redis.call('HSET', FAILURES, host, ARGV[4])
  end
end
write()
return {decided, waits, ended}
