-- Definitions for all scripts of the frontier, after keys.lua and known.lua. doc.go describes the bytes of
-- states and elements.

-- state: identity → state of each URL that this script has read (false: unknown URL).
-- changed: identity → state of those that it has changed (false: the URL was removed).
-- moved: letters of a state → change of the number of URLs in it.
-- tallied: mark of a tally → change of the tally.
local state, changed, moved, tallied = {}, {}, {}, {}

-- read reads the states of URLs into state, unless they are there already.
local function read(ids)
  if not next(state) then return look_up(ids, state, changed) end
  local unread = {}
  for _, id in ipairs(ids) do
    if state[id] == nil then unread[#unread + 1] = id end
  end
  look_up(unread, state, changed)
end

-- unknown reads the states of URLs, and returns nil if the script can go on with them. Otherwise there are
-- runs in which the caller must look up some of these URLs first: unknown returns the answer of the script,
-- 'recall' and the identities of these URLs. It must be called before anything is changed.
local function unknown(ids)
  read(ids)
  if #unsure == 0 or redis.call('EXISTS', RUNS) == 0 then return nil end
  return { 'recall', unpack(unsure) }
end

-- final returns the final part of a state (stored, skipped or failed): the whole state or,
-- if the URL is requested again, the end of it. It returns nil if there is none.
local function final(value)
  local letter = value:sub(1, 1)
  if letter == 'w' or letter == 'l' or letter == 'p' then return nil end
  if letter == 'W' then return value:sub(8) end
  if letter == 'L' then return value:sub(29) end
  return value
end

-- left returns the number of outdated elements of a URL that are still in queues.
local function left(value)
  local letter = value:byte()
  if letter == 115 or letter == 107 or letter == 102 then -- s, k, f
    return #value % 8 == 7 and value:byte(#value) or 0
  end
  return value:byte(7)
end

-- with_left returns a state with that number changed to n.
local function with_left(value, n)
  if final(value) ~= value then return value:sub(1, 6) .. string.char(n) .. value:sub(8) end
  return value:sub(1, #value - (#value - 6) % 8) .. (n > 0 and string.char(n) or '')
end

-- waits reports whether a URL in this state has a valid element in a queue.
local function waits(value)
  local letter = value:byte()
  return letter == 119 or letter == 87 -- w, W
end

-- count changes by so many the numbers to which a URL in this state adds: those of its
-- letters, that of its final state if it is requested again, and its tallies.
local function count(value, by)
  local decided = final(value)
  local letter = decided and decided:sub(1, 1) or ''
  if decided ~= value then
    local letters = value:sub(1, 1) .. letter
    moved[letters] = (moved[letters] or 0) + by
  end
  if not decided then return end
  moved[letter] = (moved[letter] or 0) + by
  for at = 15, #decided - 7, 8 do
    local mark = decided:sub(at, at + 7)
    tallied[mark] = (tallied[mark] or 0) + by
  end
end

-- become gives a URL a new state.
local function become(id, value)
  local before = state[id]
  if before then count(before, -1) end
  count(value, 1)
  state[id], changed[id] = value, value
end

-- remove removes a known URL.
local function remove(id)
  count(state[id], -1)
  state[id], changed[id] = false, false
end

-- add adds to a number in a hash and returns the new number. A number that becomes 0 is
-- deleted.
local function add(hash, field, by)
  local number = redis.call('HINCRBY', hash, field, by)
  if number == by then fill(1) end -- it was not there
  if number == 0 then fill(-redis.call('HDEL', hash, field)) end
  return number
end

-- identity returns the identity of an element's URL.
local function identity(element) return element:sub(1, 16) end

-- collection returns the collection of an element whose URL was not requested before; nil
-- for other elements.
local function collection(element)
  if element:sub(17, 17) == 'w' then return element:sub(27, 26 + element:byte(26)) end
end

-- is_asset reports whether an element has the flag of an asset.
local function is_asset(element) return math.floor(element:byte(25) / 8) % 2 == 1 end

-- hand_out changes, for each element but those of assets, the number of URLs of its collection
-- that are on lease for the first time: by 1 at a lease, by -1 at its end.
local function hand_out(elements, by)
  local numbers = {}
  for _, element in ipairs(elements) do
    local name = collection(element)
    if name and not is_asset(element) then numbers[name] = (numbers[name] or 0) + by end
  end
  for name, number in pairs(numbers) do add(OUT, name, number) end
end

-- waiting returns the state of a waiting URL by its element, with no expiries. The caller
-- appends the earlier final state of a URL that waits again.
local function waiting(element) return element:sub(17, 21) .. '\0\0' end

-- depth returns the depth that is at a position of a state or an element.
local function depth(bytes, at) return bytes:byte(at) * 256 + bytes:byte(at + 1) end

-- band returns the band by the depth and weight that are at a position of a state or an
-- element.
local function band(bytes, at)
  local weight = bytes:byte(at + 2)
  if weight == 0 then return math.min(depth(bytes, at), BANDS - 1) end
  return BANDS - 1 - math.floor(weight / 16)
end

-- queue returns the key of the queue of a host with a number among QUEUES.
local function queue(host, number) return PREFIX .. 'q' .. GENERATION .. ':' .. QUEUES[number] .. ':' .. host end

-- queue_of returns the number among QUEUES of the queue for an element. The state of its URL
-- must already be waiting.
local function queue_of(element)
  local value = state[identity(element)]
  local stored = value:sub(1, 1) == 'W' and final(value):sub(1, 1) == 's'
  return stored and #QUEUES or band(element, 18) + 1
end

-- A host's letters say which of its queues have elements, in the order of QUEUES: a to p for
-- the bands, A to P if a URL with a weight has come into the queue, and q for again.
-- kept: host → its letters as they are in Redis. filled: host → its letters after this script.
local kept, filled = {}, {}

-- filled_of returns the letters of a host.
local function filled_of(host)
  if not filled[host] then
    filled[host] = redis.call('HGET', FILLED, host) or ''
    kept[host] = filled[host]
  end
  return filled[host]
end

-- refill changes the letter of a host's queue; nil removes it, because the queue is empty.
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

-- hosts_of returns the key of the set that lists hosts with these letters.
local function hosts_of(letters)
  local first = letters:byte(1)
  return first and first < 97 and WEIGHED[first - 64] or HOSTS
end

-- keep writes the letters of a host to Redis, if they have changed. If the host is listed, it
-- moves to the set that its letters ask for.
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

-- unlist removes a host from its set, so that no URL of it is leased.
local function unlist(host) fill(-redis.call('ZREM', hosts_of(filled_of(host)), host)) end

-- list puts a host into its set, with the earliest time of the next request, if its queues
-- have elements; else it unlists the host.
local function list(host, at)
  local letters = filled_of(host)
  keep(host)
  if letters == '' then return unlist(host) end
  local keys = {}
  for letter in letters:lower():gmatch('.') do keys[#keys + 1] = queue(host, letter:byte() - 96) end
  if redis.call('EXISTS', unpack(keys)) < #keys then lose() end
  fill(redis.call('ZADD', hosts_of(letters), at, host))
end

-- next_of returns the earliest time of a host's next request. For a host without an entry in
-- next it is the time shut, by which all pauses that a lost Redis knew of are over.
local function next_of(host)
  return tonumber(redis.call('HGET', NEXT, host) or redis.call('GET', SHUT) or 0)
end

-- version_of returns the version in a final state.
local function version_of(decided) return decided:sub(2, 10) end

-- newer reports whether version a is higher than b; both have the same length.
local function newer(a, b)
  for i = 1, #a do
    if a:byte(i) ~= b:byte(i) then return a:byte(i) > b:byte(i) end
  end
  return false
end

-- decide gives a URL a final state, unless its final state has the same or a higher version.
-- It returns 1 if it did, else 0.
local function decide(id, value)
  local before = state[id]
  if before then
    local decided = final(before)
    if decided and not newer(version_of(value), version_of(decided)) then return 0 end
    local behind = left(before) + (waits(before) and 1 or 0)
    if behind > 0 then value = with_left(value, behind) end
  end
  become(id, value)
  return 1
end

-- write writes all changes to Redis. A script calls it once, at its end. retires is true only in the script
-- retire (see write_known).
local function write(retires)
  for letter, by in pairs(moved) do
    if by ~= 0 then redis.call('HINCRBY', COUNTS, letter, by) end
  end
  write_known(changed, retires)
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
