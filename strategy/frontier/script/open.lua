-- Opens the frontier in an epoch after a rebuild. Does nothing if it is open in the same layout
-- and the same or a higher epoch.
-- ARGV: layout and epoch, value of the key settings, then each storage partition and the name of
-- its last commit that the rebuild has read.
local layout, epoch = ARGV[1]:match('^(%d+):(%d+)$')
local held_layout, held = (redis.call('GET', EPOCH) or ''):match('^(%d+):(%d+)$')
if layout == held_layout and tonumber(epoch) <= tonumber(held) then return 0 end
for i = 3, #ARGV, 2 do
  local told = redis.call('HGET', LEARNT, ARGV[i])
  if not told or not (' ' .. told .. ' '):find(' ' .. ARGV[i + 1] .. ' ', 1, true) then
    fill(redis.call('HSET', LEARNT, ARGV[i], ARGV[i + 1])) -- the commits learnt meanwhile do not follow from the one that the rebuild has read
  end
end
write()
redis.call('MSET', EPOCH, ARGV[1], SETTINGS, ARGV[2])
return 0
