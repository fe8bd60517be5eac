-- ARGV: storage partition, what it learnt before, what it learns next, how many
-- names are kept while the frontier is open. It takes the first base that it is
-- told until it is open, and no other that it does not know.
local open = redis.call('EXISTS', EPOCH) == 1
local told = redis.call('HGET', LEARNT, ARGV[1]) or (open and '' or ARGV[2])
local names, known = {}, {}
for name in (told .. ' '):gmatch('([^ ]*) ') do
  known[name] = true
  if name ~= ARGV[2] then names[#names + 1] = name end
end
if known[ARGV[2]] and not known[ARGV[3]] then
  names[#names + 1] = ARGV[2] -- last but one, lest commits that were never made drive it out
  names[#names + 1] = ARGV[3]
  local first = open and math.max(1, #names + 1 - tonumber(ARGV[4])) or 1
  fill(redis.call('HSET', LEARNT, ARGV[1], table.concat(names, ' ', first)))
end
write()
return 0
