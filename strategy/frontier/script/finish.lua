-- Definitions for settle, expire and rest.

-- leased_by reports whether a URL is on the lease with a version.
local function leased_by(id, version)
  local value = state[id]
  local letter = value and value:sub(1, 1)
  return (letter == 'l' or letter == 'L') and value:sub(8, 28) == version
end

-- released returns the state of a leased URL that goes back into its queue.
local function released(value, attempts, expiries)
  return (value:sub(1, 1) == 'l' and 'w' or 'W') .. value:sub(2, 4) .. attempts .. expiries .. value:sub(7, 7) .. value:sub(29)
end

-- rest postpones the next request to a host to the time earliest, unless it is later already.
-- It returns the time of the next request, and whether it has changed.
local function rest(host, earliest)
  if earliest <= tonumber(redis.call('HGET', NEXT, host) or 0) then return next_of(host), false end
  fill(redis.call('HSET', NEXT, host, earliest))
  return earliest, true
end

-- out reads a lease. It returns its version, its host (false: the lease has ended), its elements
-- and their identities.
local function out(version)
  local elements = redis.call('LRANGE', PREFIX .. 'lease:' .. version, 0, -1)
  local host, ids = table.remove(elements, 1) or false, {}
  for i, element in ipairs(elements) do ids[i] = identity(element) end
  return { version = version, host = host, elements = elements, ids = ids }
end

-- finish ends a lease, which the caller has just removed from LEASES. URLs that are still on
-- the lease go back to the front of their queues, in the order in which they were leased. If the
-- lease has expired (most_expiries is given), they go to the back of their queues instead, and
-- get one expiry more, up to most_expiries. The host can be leased again, with no request before
-- the time earliest. URLs of a lease from before a rebuild are in their queues already. finish
-- returns the number of URLs that it put back into queues.
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
