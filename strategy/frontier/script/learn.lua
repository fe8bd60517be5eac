-- Records that the frontier has learnt a commit of a storage partition: the names of the last
-- commits are in the hash learnt.
-- ARGV: storage partition, name of the commit before (the base), name of the commit, greatest
-- number of names that are kept while the frontier is open. A commit whose base is unknown is
-- ignored, but before Open the first base of a partition is taken as known.
local open = redis.call('EXISTS', EPOCH) == 1
local told = redis.call('HGET', LEARNT, ARGV[1]) or (open and '' or ARGV[2])
local names, known = {}, {}
for name in (told .. ' '):gmatch('([^ ]*) ') do
  known[name] = true
  if name ~= ARGV[2] then names[#names + 1] = name end
end
if known[ARGV[2]] and not known[ARGV[3]] then
  names[#names + 1] = ARGV[2] -- moved to the end, so that names of commits that failed cannot displace it
  names[#names + 1] = ARGV[3]
  local first = open and math.max(1, #names + 1 - tonumber(ARGV[4])) or 1
  fill(redis.call('HSET', LEARNT, ARGV[1], table.concat(names, ' ', first)))
end
write()
return 0
