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
  for at = 25, #value - 7, 8 do
    if value:sub(at, at + 7) == mark then return false end
  end
  return true
end

-- better is the place, depth and weight, of a URL that waits or is parked and was
-- found once more, nil if it stays where it is: it comes into an earlier band, or
-- nearer in the same. The depth of one collection is none of another's.
local function better(value, element, mark)
  local shallower, sooner = depth(element, 18) < depth(value, 2), band(element, 18) < band(value, 2)
  if value:sub(1, 1) == 'p' and mark ~= '' then return element:sub(18, 20) end
  if value:sub(1, 1) == 'w' and not shallower and not sooner then return nil end
  if mark == '' then
    return (shallower and element:sub(18, 19) or value:sub(2, 3)) .. (sooner and element:sub(20, 20) or value:sub(4, 4))
  end
  return (sooner or band(element, 18) == band(value, 2)) and element:sub(18, 20) or nil
end

local answer = {0}
for i = 2, #ARGV, 3 do
  local host, element, mark, claimed = ARGV[i], ARGV[i + 1], ARGV[i + 2]:sub(1, 8), #ARGV[i + 2] == 9
  local id = identity(element)
  local before = state[id]
  local letter = before and before:sub(1, 1)
  if before and mark ~= '' then -- for whom it is, is known only of what is stored
    if letter == 'k' or not claimed and letter ~= 's' and letter ~= 'f' then miss() end
  end
  if not before then
    answer[1] = answer[1] + 1
    become(id, waiting(element))
    arrive(host, element)
  elseif letter == 'p' or letter == 'w' and before:sub(2, 4) ~= element:sub(18, 20) then
    local place, behind = better(before, element, mark), left(before) + (letter == 'w' and 1 or 0)
    if mark ~= '' and (place or depth(element, 18) < depth(before, 2)) then miss() end
    if place and behind > LEFT_BEHIND then
      miss()
    elseif place then -- keeps what was counted
      become(id, with_left('w' .. place .. before:sub(5), behind))
      arrive(host, element:sub(1, 17) .. place .. element:sub(21))
    end
  elseif lacks(before, mark) then
    answer[#answer + 1] = id
  end
end
queue_up(tonumber(ARGV[1]))
write()
return answer
