-- Applies outcomes of a batch, and ends its lease with the last of them.
-- ARGV: version of the lease, host, end of the batch, earliest time of the host's next request,
-- '1' if these are the last outcomes of the batch, the host's failures, greatest number of
-- expiries that is counted for a URL, the version in the bytes of a final state, the number of final
-- states, identity and final state of each, then identity and attempts of each URL to be requested
-- again.
-- Returns {number of final states set, of URLs put back into queues, of leases ended}.
local version, host, batch_ended, earliest = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local last, failures, most_expiries = ARGV[5] == '1', tonumber(ARGV[6]), tonumber(ARGV[7])
local as_final, first = ARGV[8], 10
local retries = first + 2 * tonumber(ARGV[9])
local lease = out(version)
local ids = {}
for i = first, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
local recall = unknown(ids)
if recall then return recall end

-- tried reports whether a number of attempts, from this batch, which is late, is greater than that
-- of a URL that is pending or on lease, so that it must be recorded.
local function tried(value, attempts)
  local decided = value and final(value)
  return value and decided ~= value and attempts:byte() > value:byte(5) and
    (not decided or newer(as_final, version_of(decided)))
end

local decided, requeued, ended = 0, 0, 0
for i = first, retries - 1, 2 do
  decided = decided + decide(ARGV[i], ARGV[i + 1])
end

-- If the batch ended after the deadline, the lease is treated as expired, although expire has not
-- ended it yet: the fetch may have crashed.
local deadline = tonumber(redis.call('ZSCORE', LEASES, version) or math.huge)
if batch_ended >= deadline then
  redis.call('ZREM', LEASES, version)
  ended = 1
  fill(-1)
  requeued = requeued + finish(lease, 0, most_expiries)
end

local elements = {}
if #ARGV >= retries then
  for i, id in ipairs(lease.ids) do elements[id] = lease.elements[i] end
end
for i = retries, #ARGV, 2 do
  local id, attempts = ARGV[i], ARGV[i + 1]
  local before = state[id]
  if leased_by(id, version) and not elements[id] then
    lose()
  elseif leased_by(id, version) then
    become(id, released(before, attempts, '\0'))
    push('RPUSH', lease.host, queue_of(elements[id]), { elements[id] })
    requeued = requeued + 1
  elseif tried(before, attempts) then -- the lease is over, but the URL was requested
    become(id, before:sub(1, 4) .. attempts .. before:sub(6))
  end
end

if last and redis.call('ZREM', LEASES, version) == 1 then
  ended = 1
  fill(-1)
  requeued = requeued + finish(lease, earliest)
  if failures == 0 then
    fill(-redis.call('HDEL', FAILURES, lease.host or host))
  else
    fill(redis.call('HSET', FAILURES, lease.host or host, failures))
  end
elseif last then
  -- The outcomes are late or repeated. A longer pause of the host counts all the same. If the
  -- known pause is as long or longer, these outcomes were applied before, or newer ones were.
  local at, sooner = rest(host, earliest)
  if sooner then
    redis.call('ZADD', hosts_of(filled_of(host)), 'XX', at, host)
    if failures > tonumber(redis.call('HGET', FAILURES, host) or 0) then
      fill(redis.call('HSET', FAILURES, host, failures))
    end
  end
end
write()
return {decided, requeued, ended}
