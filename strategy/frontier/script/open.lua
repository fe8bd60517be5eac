-- ARGV: layout and epoch, settings, then each storage partition and what a
-- rebuild found it to have learnt. The highest epoch of a layout stays.
local layout, epoch = ARGV[1]:match('^(%d+):(%d+)$')
local held_layout, held = (redis.call('GET', EPOCH) or ''):match('^(%d+):(%d+)$')
if layout == held_layout and tonumber(epoch) <= tonumber(held) then return 0 end
for i = 3, #ARGV, 2 do
  local told = redis.call('HGET', LEARNT, ARGV[i])
  if not told or not (' ' .. told .. ' '):find(' ' .. ARGV[i + 1] .. ' ', 1, true) then
    fill(redis.call('HSET', LEARNT, ARGV[i], ARGV[i + 1])) -- what was told does not follow from what was found
  end
end
write()
redis.call('MSET', EPOCH, ARGV[1], SETTINGS, ARGV[2])
return 0
