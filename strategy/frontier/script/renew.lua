-- ARGV: now, then host and element of each URL; the element holds the highest
-- version of a state that is renewed.
-- Returns how many of the URLs wait again: not those of which too many elements
-- were left behind, which may be missed.
local ids = {}
for i = 3, #ARGV, 2 do ids[#ids + 1] = identity(ARGV[i]) end
read(ids)

local renewed = 0
for i = 2, #ARGV, 2 do
  local host, element = ARGV[i], ARGV[i + 1]
  local id = identity(element)
  local before = state[id]
  local letter = before and before:sub(1, 1)
  if (letter == 's' or letter == 'k' or letter == 'f') and not newer(before:sub(4, 24), element:sub(27, 47)) then
    local behind = left(before)
    if behind > LEFT_BEHIND then
      miss()
    else
      renewed = renewed + 1
      become(id, with_left(waiting(element) .. with_left(before, 0), behind))
      arrive(host, element:sub(1, 26) .. before:sub(4, 24) .. element:sub(48))
    end
  end
end
queue_up(tonumber(ARGV[1]))
write()
return renewed
