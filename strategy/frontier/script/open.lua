-- ARGV: epoch, settings, then each storage partition and what a rebuild found
-- it to have learnt. The highest epoch stays.
local epoch = PREFIX .. 'epoch'
if tonumber(ARGV[1]) <= tonumber(redis.call('GET', epoch) or 0) then return 0 end
for i = 3, #ARGV, 2 do
  local told = redis.call('HGET', LEARNT, ARGV[i])
  if not told or not (' ' .. told .. ' '):find(' ' .. ARGV[i + 1] .. ' ', 1, true) then
    redis.call('HSET', LEARNT, ARGV[i], ARGV[i + 1]) -- what was told does not follow from what was found
  end
end
redis.call('MSET', epoch, ARGV[1], PREFIX .. 'settings', ARGV[2])
return 0
