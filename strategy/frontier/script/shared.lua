-- What all scripts of the frontier share; doc.go draws the keys and bytes.
local PREFIX = KEYS[1]
local KNOWN, COUNTS, HOSTS = PREFIX .. 'known', PREFIX .. 'counts', PREFIX .. 'hosts'
local NEXT, FAILURES = PREFIX .. 'next', PREFIX .. 'failures'
local ACTIVE, LEASES = PREFIX .. 'active', PREFIX .. 'leases'
local LEARNT, REBUILD = PREFIX .. 'learnt', PREFIX .. 'rebuild'
local TALLIES, OUT, MISSED = PREFIX .. 'tallies', PREFIX .. 'out', PREFIX .. 'missed'

-- The queues of a host, in the order in which a lease takes what is in them: the
-- bands, and that of pages which are asked again.
local BANDS, AGAIN = 16, 'again'
local QUEUES = {}
for band = 0, BANDS - 1 do QUEUES[#QUEUES + 1] = band end
QUEUES[#QUEUES + 1] = AGAIN

-- Each further key is a fence of the caller's. Three arguments at the end belong
-- to it: what it must hold; unless empty, what it holds then, which a call that
-- is repeated because its answer was lost finds already; and for how many
-- seconds, 0 for ever.
local fences = {}
for i = #KEYS, 2, -1 do
  local age, next, value = table.remove(ARGV), table.remove(ARGV), table.remove(ARGV)
  local held = redis.call('GET', KEYS[i]) or ''
  if held ~= value and (next == '' or held ~= next) then return redis.error_reply('FENCED ' .. (i - 1)) end
  if next ~= '' then fences[KEYS[i]] = { next, age } end
end
for key, fence in pairs(fences) do
  redis.call('SET', key, fence[1])
  if fence[2] ~= '0' then redis.call('EXPIRE', key, fence[2]) end
end

-- The states of the URLs that this script has read (false: unknown), those of
-- them that it has changed, and by how much the number of each letter and the
-- tally of each mark moved.
local state, changed, moved, tallied = {}, {}, {}, {}

-- read reads the states of URLs that it has not read yet.
local function read(ids)
  local unread = ids
  if next(state) then
    unread = {}
    for _, id in ipairs(ids) do
      if state[id] == nil then unread[#unread + 1] = id end
    end
  end
  if #unread == 0 then return end
  local values = redis.call('HMGET', KNOWN, unpack(unread))
  for i, id in ipairs(unread) do state[id] = values[i] end
end

-- final is what was decided of a URL, if anything was: its state or, of one
-- that is asked again, the end of it.
local function final(value)
  local letter = value:sub(1, 1)
  if letter == 'w' or letter == 'l' or letter == 'p' then return nil end
  if letter == 'W' then return value:sub(7) end
  if letter == 'L' then return value:sub(28) end
  return value
end

-- count moves by so many what a URL of this state counts on: its letters, that
-- of what was decided if it is asked again, and its tallies.
local function count(value, by)
  local decided = final(value)
  local letter = decided and decided:sub(1, 1) or ''
  if decided ~= value then
    local letters = value:sub(1, 1) .. letter
    moved[letters] = (moved[letters] or 0) + by
  end
  if not decided then return end
  moved[letter] = (moved[letter] or 0) + by
  for at = 25, #decided, 8 do
    local mark = decided:sub(at, at + 7)
    tallied[mark] = (tallied[mark] or 0) + by
  end
end

local function become(id, value)
  local before = state[id]
  if before then count(before, -1) end
  count(value, 1)
  state[id], changed[id] = value, value
end

-- write puts down all that became; a script calls it once, at its end.
local function write()
  local pairs_of = {}
  for id, value in pairs(changed) do
    pairs_of[#pairs_of + 1] = id
    pairs_of[#pairs_of + 1] = value
  end
  if #pairs_of > 0 then redis.call('HSET', KNOWN, unpack(pairs_of)) end
  for letter, by in pairs(moved) do
    if by ~= 0 then redis.call('HINCRBY', COUNTS, letter, by) end
  end
  for mark, by in pairs(tallied) do
    if by ~= 0 and redis.call('HINCRBY', TALLIES, mark, by) == 0 then redis.call('HDEL', TALLIES, mark) end
  end
end

local function identity(element) return element:sub(1, 16) end

-- collection is that of an element which waits for the first time, nil of others.
local function collection(element)
  if element:sub(17, 17) == 'w' then return element:sub(27, 26 + element:byte(26)) end
end

-- hand_out moves by so many for each element how many URLs are on lease for the
-- first time, by their collections.
local function hand_out(elements, by)
  local numbers = {}
  for _, element in ipairs(elements) do
    local name = collection(element)
    if name then numbers[name] = (numbers[name] or 0) + by end
  end
  for name, number in pairs(numbers) do
    if redis.call('HINCRBY', OUT, name, number) == 0 then redis.call('HDEL', OUT, name) end
  end
end

-- waiting is the state of a URL that waits, as its element says; no lease of it
-- expired. If it waits again, what was decided of it follows.
local function waiting(element) return element:sub(17, 21) .. '\0' end
local function depth(bytes, at) return bytes:byte(at) * 256 + bytes:byte(at + 1) end

-- band is that of a depth and a weight, which are in a state or an element.
local function band(bytes, at)
  local weight = bytes:byte(at + 2)
  if weight == 0 then return math.min(depth(bytes, at), BANDS - 1) end
  return BANDS - 1 - math.floor(weight / 16)
end

local function queue(host, name) return PREFIX .. 'q:' .. name .. ':' .. host end

-- queue_of is the queue of an element whose URL has become one that waits.
local function queue_of(host, element)
  local value = state[identity(element)]
  local stored = value:sub(1, 1) == 'W' and final(value):sub(1, 1) == 's'
  return queue(host, stored and AGAIN or band(element, 18))
end

-- list has a host asked at a time for what is in its queues, if anything is.
local function list(host, at)
  local keys = {}
  for _, name in ipairs(QUEUES) do keys[#keys + 1] = queue(host, name) end
  if redis.call('EXISTS', unpack(keys)) > 0 then redis.call('ZADD', HOSTS, at, host) else redis.call('ZREM', HOSTS, host) end
end

-- newer compares two versions, which are of the same length.
local function newer(a, b)
  for i = 1, #a do
    if a:byte(i) ~= b:byte(i) then return a:byte(i) > b:byte(i) end
  end
  return false
end

-- decide gives a URL a final state, unless a version as high decided before.
local function decide(id, value)
  local decided = state[id] and final(state[id])
  if decided and not newer(value:sub(4, 24), decided:sub(4, 24)) then return 0 end
  become(id, value)
  return 1
end
