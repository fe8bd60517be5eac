-- What all scripts of the frontier share; doc.go draws the keys and bytes.
local PREFIX = KEYS[1]
local KNOWN, COUNTS, HOSTS = PREFIX .. 'known', PREFIX .. 'counts', PREFIX .. 'hosts'
local NEXT, FAILURES = PREFIX .. 'next', PREFIX .. 'failures'
local ACTIVE, LEASES = PREFIX .. 'active', PREFIX .. 'leases'
local CLOSED, SHUT, CROWDED = PREFIX .. 'closed', PREFIX .. 'shut', PREFIX .. 'crowded'
local LEARNT, REBUILD = PREFIX .. 'learnt', PREFIX .. 'rebuild'
local TALLIES, OUT, FILLED = PREFIX .. 'tallies', PREFIX .. 'out', PREFIX .. 'filled'
local EPOCH, SETTINGS = PREFIX .. 'epoch', PREFIX .. 'settings'

-- The queues of a host, in the order in which a lease takes what is in them: the
-- bands, and that of pages which are asked again.
local BANDS, AGAIN = 16, 'again'
local QUEUES = {}
for band = 0, BANDS - 1 do QUEUES[#QUEUES + 1] = band end
QUEUES[#QUEUES + 1] = AGAIN

-- The sets of the hosts whose first queue is that of a band, with a weight in it.
local WEIGHED = {}
for band = 0, BANDS - 1 do WEIGHED[#WEIGHED + 1] = HOSTS .. ':' .. band end

-- How many elements of a URL that do not count may be in queues for it to get
-- one more that does.
local LEFT_BEHIND = 16

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

-- fill notes that the hashes and sets of the partition, but known and counts,
-- have got so many entries more: what all of them have is in counts, and must
-- add up (see check).
local filled_by = 0
local function fill(by) filled_by = filled_by + by end

-- filled_in_all is how many entries they have.
local function filled_in_all()
  local entries = redis.call('ZCARD', HOSTS) + redis.call('ZCARD', LEASES) + redis.call('SCARD', CROWDED)
  for _, hash in ipairs({ NEXT, FAILURES, ACTIVE, CLOSED, LEARNT, TALLIES, OUT, FILLED }) do entries = entries + redis.call('HLEN', hash) end
  if redis.call('EXISTS', unpack(WEIGHED)) > 0 then
    for _, set in ipairs(WEIGHED) do entries = entries + redis.call('ZCARD', set) end
  end
  return entries
end

-- miss notes that a collection may miss something.
local missed = false
local function miss() missed = true end

-- lose notes that a key is gone that must be there.
local lost = false
local function lose() lost = true end

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
  if letter == 'W' then return value:sub(8) end
  if letter == 'L' then return value:sub(29) end
  return value
end

-- left is how many elements of a URL do not count and are in queues still, and
-- with_left its state when there are so many.
local function left(value)
  local letter = value:byte()
  if letter == 115 or letter == 107 or letter == 102 then -- s, k, f
    return #value % 8 == 1 and value:byte(#value) or 0
  end
  return value:byte(7)
end

local function with_left(value, n)
  if final(value) ~= value then return value:sub(1, 6) .. string.char(n) .. value:sub(8) end
  return value:sub(1, #value - #value % 8) .. (n > 0 and string.char(n) or '')
end

-- waits reports whether a URL of this state has an element that counts.
local function waits(value)
  local letter = value:byte()
  return letter == 119 or letter == 87 -- w, W
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
  for at = 25, #decided - 7, 8 do
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

-- add adds to a number of a hash, which is not kept when it is 0.
local function add(hash, field, by)
  local number = redis.call('HINCRBY', hash, field, by)
  if number == by then fill(1) end -- it was not there
  if number == 0 then fill(-redis.call('HDEL', hash, field)) end
  return number
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
  for name, number in pairs(numbers) do add(OUT, name, number) end
end

-- waiting is the state of a URL that waits, as its element says; no lease of it
-- expired. If it waits again, what was decided of it follows.
local function waiting(element) return element:sub(17, 21) .. '\0\0' end
local function depth(bytes, at) return bytes:byte(at) * 256 + bytes:byte(at + 1) end

-- band is that of a depth and a weight, which are in a state or an element.
local function band(bytes, at)
  local weight = bytes:byte(at + 2)
  if weight == 0 then return math.min(depth(bytes, at), BANDS - 1) end
  return BANDS - 1 - math.floor(weight / 16)
end

local function queue(host, number) return PREFIX .. 'q:' .. QUEUES[number] .. ':' .. host end

-- queue_of is the number, among QUEUES, of that of an element whose URL has
-- become one that waits.
local function queue_of(element)
  local value = state[identity(element)]
  local stored = value:sub(1, 1) == 'W' and final(value):sub(1, 1) == 's'
  return stored and #QUEUES or band(element, 18) + 1
end

-- Which queues of a host have something in them is kept in letters, in the order
-- of QUEUES: a to p for the bands, A to P if one with a weight came into it, and
-- q. Here they are as they are kept, and as they are by now.
local kept, filled = {}, {}

local function filled_of(host)
  if not filled[host] then
    filled[host] = redis.call('HGET', FILLED, host) or ''
    kept[host] = filled[host]
  end
  return filled[host]
end

-- refill changes the letter of a queue: nil if nothing is left in it.
local function refill(host, number, letter)
  local before, after = '', ''
  for other in filled_of(host):gmatch('.') do
    local at = other:lower():byte() - 96
    if at < number then before = before .. other elseif at > number then after = after .. other end
  end
  filled[host] = before .. (letter or '') .. after
end

-- push puts elements into a queue of a host, with RPUSH or LPUSH.
local function push(command, host, number, elements)
  local length = redis.call(command, queue(host, number), unpack(elements))
  local plain, weighed = string.char(96 + number), string.char(64 + number)
  local letters, letter = filled_of(host), nil
  if letters:find(weighed, 1, true) then letter = weighed elseif letters:find(plain, 1, true) then letter = plain end
  if (letter == nil) ~= (length == #elements) then lose() end
  local wanted = letter or plain
  for _, element in ipairs(elements) do
    if number <= BANDS and element:byte(20) > 0 then wanted = weighed end
  end
  if wanted ~= letter then refill(host, number, wanted) end
end

-- hosts_of is the set that lists a host with these letters, if it may be asked.
local function hosts_of(letters)
  local first = letters:byte(1)
  return first and first < 97 and WEIGHED[first - 64] or HOSTS
end

-- keep writes down which queues of a host are filled, and lists it where it
-- belongs then if it is listed.
local function keep(host)
  local before, now = kept[host], filled[host]
  if before == now then return end
  kept[host] = now
  if now == '' then fill(-redis.call('HDEL', FILLED, host)) else fill(redis.call('HSET', FILLED, host, now)) end
  local from, to = hosts_of(before), hosts_of(now)
  local at = from ~= to and redis.call('ZSCORE', from, host)
  if at then
    redis.call('ZREM', from, host)
    redis.call('ZADD', to, at, host)
  end
end

-- unlist has a host not asked.
local function unlist(host) fill(-redis.call('ZREM', hosts_of(filled_of(host)), host)) end

-- list has a host asked at a time for what is in its queues, if anything is.
local function list(host, at)
  local letters = filled_of(host)
  keep(host)
  if letters == '' then return unlist(host) end
  local keys = {}
  for letter in letters:lower():gmatch('.') do keys[#keys + 1] = queue(host, letter:byte() - 96) end
  if redis.call('EXISTS', unpack(keys)) < #keys then lose() end
  fill(redis.call('ZADD', hosts_of(letters), at, host))
end

-- next_of is the earliest time of a host's next request: of one of which nothing
-- is known, when the hosts may be asked that a Redis which was lost knew of.
local function next_of(host)
  return tonumber(redis.call('HGET', NEXT, host) or redis.call('GET', SHUT) or 0)
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
  local before = state[id]
  if before then
    local decided = final(before)
    if decided and not newer(value:sub(4, 24), decided:sub(4, 24)) then return 0 end
    local behind = left(before) + (waits(before) and 1 or 0)
    if behind > 0 then value = with_left(value, behind) end
  end
  become(id, value)
  return 1
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
    if by ~= 0 then add(TALLIES, mark, by) end
  end
  for host in pairs(filled) do keep(host) end
  if filled_by ~= 0 then redis.call('HINCRBY', COUNTS, 'fill', filled_by) end
  if missed then redis.call('HSET', COUNTS, 'missed', 1) end
  if lost then -- as Distrust does
    redis.call('DEL', SETTINGS)
    redis.call('SET', REBUILD, 'lost')
  end
end
