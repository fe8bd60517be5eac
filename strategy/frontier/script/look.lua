-- Returns the states of URLs; nil for one that is unknown. Changes nothing.
-- ARGV: the identities of the URLs.
local recall = unknown(ARGV)
if recall then return recall end
local answer = {}
for i, id in ipairs(ARGV) do answer[i] = state[id] end
return answer
