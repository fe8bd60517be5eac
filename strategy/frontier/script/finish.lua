-- What settle and expire share.

local function leased_by(id, version)
  local value = state[id]
  local letter = value and value:sub(1, 1)
  return (letter == 'l' or letter == 'L') and value:sub(8, 28) == version
end

-- released is the state of a URL that was leased, and waits once more.
local function released(value, attempts, expiries)
  return (value:sub(1, 1) == 'l' and 'w' or 'W') .. value:sub(2, 4) .. attempts .. expiries .. value:sub(7, 7) .. value:sub(29)
end

-- rest has a host asked no earlier than at a time. It returns when it may be
-- asked, and whether that is another time than before.
local function rest(host, earliest)
  if earliest <= tonumber(redis.call('HGET', NEXT, host) or 0) then return next_of(host), false end
  fill(redis.call('HSET', NEXT, host, earliest))
  return earliest, true
end

-- out reads a lease: its version, host (false: it is over) and elements, and
-- their identities.
local function out(version)
  local elements = redis.call('LRANGE', PREFIX .. 'lease:' .. version, 0, -1)
  local host, ids = table.remove(elements, 1) or false, {}
  for i, element in ipairs(elements) do ids[i] = identity(element) end
  return { version = version, host = host, elements = elements, ids = ids }
end

-- finish ends a lease that was just taken out of LEASES: what is still leased
-- by it goes to the front of its queue, in the order in which it was leased;
-- the host is free, and asked again no earlier than at the time given. If the
-- lease expired, it goes to the back instead, and its expiries are one more, up
-- to the most that are counted. The URLs of a lease from before a rebuild wait
-- already. It returns how many URLs wait again.
local function finish(lease, earliest, most_expiries)
  local host = lease.host
  if not host then
    lose()
    return 0
  end
  redis.call('DEL', PREFIX .. 'lease:' .. lease.version)
  fill(-redis.call('HDEL', CLOSED, lease.version))
  hand_out(lease.elements, -1)
  read(lease.ids)
  local requeued = 0
  local function requeue(command, i, expired)
    local id, element = lease.ids[i], lease.elements[i]
    if leased_by(id, lease.version) then
      local before = state[id]
      local expiries = math.min(before:byte(6) + expired, most_expiries or 255)
      become(id, released(before, before:sub(5, 5), string.char(expiries)))
      push(command, host, queue_of(element), { element })
      requeued = requeued + 1
    end
  end
  if most_expiries then
    for i = 1, #lease.elements do requeue('RPUSH', i, 1) end
  else
    for i = #lease.elements, 1, -1 do requeue('LPUSH', i, 0) end
  end

  if add(ACTIVE, host, -1) < 0 then lose() end
  list(host, (rest(host, earliest)))
  return requeued
end
