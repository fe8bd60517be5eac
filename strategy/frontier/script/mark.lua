-- Sets the final states of URLs that a book records.
-- ARGV: identity and final state of each URL.
local ids = {}
for i = 1, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
local recall = unknown(ids)
if recall then return recall end
for i = 1, #ARGV, 2 do decide(ARGV[i], ARGV[i + 1]) end
write()
return 0
