-- Adds leases that have not ended but that this Redis may not know, without their URLs. No other
-- URL of their hosts is leased before they end. A lease that is known stays as it is.
-- ARGV: version, host and deadline of each batch.
for i = 1, #ARGV, 3 do
  local version, host = ARGV[i], ARGV[i + 1]
  if redis.call('ZADD', LEASES, 'NX', ARGV[i + 2], version) == 1 then
    redis.call('RPUSH', PREFIX .. 'lease:' .. version, host)
    fill(1 + redis.call('HSET', CLOSED, version, host))
    add(ACTIVE, host, 1)
  end
end
write()
return 0
