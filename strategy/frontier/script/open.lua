-- ARGV: epoch. The highest epoch stays.
local key = PREFIX .. 'epoch'
if tonumber(ARGV[1]) > tonumber(redis.call('GET', key) or 0) then
  redis.call('SET', key, ARGV[1])
end
return 0
