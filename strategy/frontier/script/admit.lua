-- Adds URLs to the frontier, and moves URLs forward that wait or are parked.
-- ARGV: now, then host, element and mark of each URL. The mark is that of a tally to which the
-- stored page is to be added, '' for none; a + after it says that the collection also gets
-- pages that another one stores.
-- Returns the number of URLs that were unknown, then the identities of those that are stored
-- and not counted by the tally of their mark.
local ids = {}
for i = 3, #ARGV, 3 do ids[#ids + 1] = identity(ARGV[i]) end
local recall = unknown(ids)
if recall then return recall end

-- lacks reports whether a URL is stored and the tally of a mark does not count it.
local function lacks(value, mark)
  if mark == '' or value:sub(1, 1) ~= 's' then return false end
  for at = 15, #value - 7, 8 do
    if value:sub(at, at + 7) == mark then return false end
  end
  return true
end

-- better returns the depth and weight (3 bytes) that a waiting or parked URL gets because
-- another link to it was found, or nil if it keeps its own. It gets those of an earlier band, or
-- a smaller depth in the same band. If a mark is given, the depths may be of different
-- collections and are not combined.
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
  if before and mark ~= '' then -- the collections of a URL are known here only if it is stored
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
    elseif place then -- keeps its attempts and expiries
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
