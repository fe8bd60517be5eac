-- Puts URLs with a final state into queues, to be requested again.
-- ARGV: now, then host and element of each URL. The element has a version: if that of the final
-- state is higher, the URL is left as it is.
-- Returns the number of URLs put into queues. A URL with too many outdated elements is not one
-- of them (see miss).
local ids = {}
for i = 3, #ARGV, 2 do ids[#ids + 1] = identity(ARGV[i]) end
local recall = unknown(ids)
if recall then return recall end

local renewed = 0
for i = 2, #ARGV, 2 do
  local host, element = ARGV[i], ARGV[i + 1]
  local id = identity(element)
  local before = state[id]
  local letter = before and before:sub(1, 1)
  if (letter == 's' or letter == 'k' or letter == 'f') and not newer(version_of(before), element:sub(27, 35)) then
    local behind = left(before)
    if behind > LEFT_BEHIND then
      miss()
    else
      renewed = renewed + 1
      become(id, with_left(waiting(element) .. with_left(before, 0), behind))
      arrive(host, element:sub(1, 26) .. version_of(before) .. element:sub(36))
    end
  end
end
queue_up(tonumber(ARGV[1]))
write()
return renewed
