-- Removes URLs from the frontier, or what is known of them only as pending.
-- ARGV: for each URL its identity, and 1 if its final state is removed, too, else 0.
-- Elements of the URLs stay in queues, outdated: the hash dropped has the numbers of those whose URLs
-- were removed. Returns the identities of the URLs with such elements.
-- Only final states are in runs. So a URL that KNOWN has not, and whose final state stays, is not looked up.
local removed, unqueued, answer = {}, {}, {}
for i = 1, #ARGV, 2 do
  local ids = ARGV[i + 1] == '1' and removed or unqueued
  ids[#ids + 1] = ARGV[i]
end
local recall = unknown(removed)
if recall then return recall end
read(unqueued)
for i = 1, #ARGV, 2 do
  local id, all = ARGV[i], ARGV[i + 1] == '1'
  local before = state[id]
  local decided = before and final(before)
  if before then
    local behind = left(before) + (waits(before) and 1 or 0)
    if behind > 0 then answer[#answer + 1] = id end
    if decided and not all then
      if decided ~= before then become(id, with_left(with_left(decided, 0), behind)) end
    else
      remove(id)
      if behind > 0 then add(DROPPED, id, behind) end
    end
  end
end
write()
return answer
