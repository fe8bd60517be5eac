-- ARGV: now, then host and element of each URL.
-- Returns how many of the URLs were unknown.
local ids = {}
for i = 3, #ARGV, 2 do ids[#ids + 1] = identity(ARGV[i]) end
read(ids)

local added = 0
for i = 2, #ARGV, 2 do
  local host, element = ARGV[i], ARGV[i + 1]
  local id = identity(element)
  local before = state[id]
  if not before then
    added = added + 1
    become(id, waiting(element))
    arrive(host, element)
  elseif before:sub(1, 1) == 'w' and before:sub(2, 4) ~= element:sub(18, 20) then
    local shallower, sooner = depth(element, 18) < depth(before, 2), band(element, 18) < band(before, 2)
    if shallower or sooner then -- moves up, keeps what was counted
      local place = (shallower and element:sub(18, 19) or before:sub(2, 3)) .. (sooner and element:sub(20, 20) or before:sub(4, 4))
      become(id, 'w' .. place .. before:sub(5))
      arrive(host, element:sub(1, 17) .. place .. element:sub(21))
    end
  end
end
queue_up(tonumber(ARGV[1]))
write()
return added
