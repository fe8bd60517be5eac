-- What all scripts of the frontier share; doc.go draws the keys and bytes.
local PREFIX = KEYS[1]
local KNOWN, COUNTS, HOSTS = PREFIX .. 'known', PREFIX .. 'counts', PREFIX .. 'hosts'
local NEXT, FAILURES = PREFIX .. 'next', PREFIX .. 'failures'
local ACTIVE, LEASES = PREFIX .. 'active', PREFIX .. 'leases'
local LEARNT, REBUILD = PREFIX .. 'learnt', PREFIX .. 'rebuild'
local BANDS = 16

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
-- them that it has changed, and by how much the number of each letter moved.
local state, changed, moved = {}, {}, {}

local function read(ids)
  if #ids == 0 then return end
  local values = redis.call('HMGET', KNOWN, unpack(ids))
  for i, id in ipairs(ids) do
    state[id] = changed[id] or values[i]
  end
end

local function become(id, value)
  local before, after = state[id], value:sub(1, 1)
  if before then
    local letter = before:sub(1, 1)
    moved[letter] = (moved[letter] or 0) - 1
  end
  moved[after] = (moved[after] or 0) + 1
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
end

local function identity(element) return element:sub(1, 16) end
-- waiting is the state of a URL that waits, as its element says; no lease of it expired.
local function waiting(element) return 'w' .. element:sub(17, 19) .. '\0' end
local function depth(bytes, at) return bytes:byte(at) * 256 + bytes:byte(at + 1) end

local function queue(host, band) return PREFIX .. 'q:' .. band .. ':' .. host end
local function queue_of(host, element)
  return queue(host, math.min(depth(element, 17), BANDS - 1))
end

local function queued(host)
  local keys = {}
  for band = 0, BANDS - 1 do keys[#keys + 1] = queue(host, band) end
  return redis.call('EXISTS', unpack(keys)) > 0
end

local function leased_by(id, version)
  local value = state[id]
  return value and value:sub(1, 1) == 'l' and value:sub(6) == version
end

local function pending(value)
  local letter = value and value:sub(1, 1)
  return letter == 'w' or letter == 'l'
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
  if not before or pending(before) or newer(value:sub(4), before:sub(4)) then
    become(id, value)
    return 1
  end
  return 0
end

-- finish ends a lease that was just taken out of LEASES: what is still leased
-- by it goes to the front of its queue, in the order in which it was leased;
-- the host is free, and asked again no earlier than at the time given. If the
-- lease expired, it goes to the back instead, and its expiries are one more, up
-- to the most that are counted. It returns how many URLs wait again.
local function finish(version, earliest, most_expiries)
  local key = PREFIX .. 'lease:' .. version
  local elements = redis.call('LRANGE', key, 0, -1)
  local host = table.remove(elements, 1)
  redis.call('DEL', key)
  if not host then return 0 end

  local ids = {}
  for i, element in ipairs(elements) do ids[i] = identity(element) end
  read(ids)
  local requeued = 0
  local function requeue(push, i, expired)
    if leased_by(ids[i], version) then
      local before = state[ids[i]]
      local expiries = math.min(before:byte(5) + expired, most_expiries or 255)
      become(ids[i], 'w' .. before:sub(2, 4) .. string.char(expiries))
      redis.call(push, queue_of(host, elements[i]), elements[i])
      requeued = requeued + 1
    end
  end
  if most_expiries then
    for i = 1, #elements do requeue('RPUSH', i, 1) end
  else
    for i = #elements, 1, -1 do requeue('LPUSH', i, 0) end
  end

  if redis.call('HINCRBY', ACTIVE, host, -1) <= 0 then redis.call('HDEL', ACTIVE, host) end
  local at = tonumber(redis.call('HGET', NEXT, host) or 0)
  if earliest > at then
    at = earliest
    redis.call('HSET', NEXT, host, at)
  end
  if queued(host) then
    redis.call('ZADD', HOSTS, at, host)
  else
    redis.call('ZREM', HOSTS, host)
  end
  return requeued
end
