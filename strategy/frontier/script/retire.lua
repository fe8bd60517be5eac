-- Removes the states of finished URLs that are in a run now. A fence has checked, and perhaps changed,
-- the list of the runs. A state that has changed since the run was made stays, and counts before that in the run.
-- ARGV: identity and state of each URL.
local ids = {}
for i = 1, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
read(ids)
for i = 1, #ARGV, 2 do
  if state[ARGV[i]] == ARGV[i + 1] then changed[ARGV[i]] = false end
end
write(true)
redis.call('HSET', COUNTS, 'retires', 1)
return 0
