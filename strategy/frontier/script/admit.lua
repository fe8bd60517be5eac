-- ARGV: now, then host, element and mark of each URL: '' if none is wanted, and
-- with a + behind it if its collection gets what another stores.
-- Returns how many of the URLs were unknown, then the identities of those that
-- are stored and do not count on the mark.
local ids = {}
for i = 3, #ARGV, 3 do ids[#ids + 1] = identity(ARGV[i]) end
read(ids)

-- lacks reports whether a page is stored and does not count on a mark.
local function lacks(value, mark)
  if mark == '' or value:sub(1, 1) ~= 's' then return false end
  for at = 25, #value, 8 do
    if value:sub(at, at + 7) == mark then return false end
  end
  return true
end

local answer, missed = {0}, false
for i = 2, #ARGV, 3 do
  local host, element, mark, claimed = ARGV[i], ARGV[i + 1], ARGV[i + 2]:sub(1, 8), #ARGV[i + 2] == 9
  local id = identity(element)
  local before = state[id]
  local letter = before and before:sub(1, 1)
  if before and mark ~= '' then -- for whom it is, is known only of what is stored
    missed = missed or letter == 'k' or not claimed and letter ~= 's' and letter ~= 'f'
  end
  if not before then
    answer[1] = answer[1] + 1
    become(id, waiting(element))
    arrive(host, element)
  elseif letter == 'w' and before:sub(2, 4) ~= element:sub(18, 20) or letter == 'p' then
    local shallower, sooner = depth(element, 18) < depth(before, 2), band(element, 18) < band(before, 2)
    if shallower or sooner or letter == 'p' then -- moves up or waits once more, keeps what was counted
      local place = (shallower and element:sub(18, 19) or before:sub(2, 3)) .. (sooner and element:sub(20, 20) or before:sub(4, 4))
      if mark ~= '' then -- the depth of one collection is none of another's
        place, missed = element:sub(18, 20), true
      end
      become(id, 'w' .. place .. before:sub(5))
      arrive(host, element:sub(1, 17) .. place .. element:sub(21))
    end
  elseif lacks(before, mark) then
    answer[#answer + 1] = id
  end
end
if missed then redis.call('SET', MISSED, 1) end
queue_up(tonumber(ARGV[1]))
write()
return answer
