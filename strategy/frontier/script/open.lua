-- ARGV: epoch, name of the rebuild or ''. The highest epoch stays.
-- Returns 0 when another rebuild has begun.
if ARGV[2] ~= '' and redis.call('GET', REBUILD) ~= ARGV[2] then return 0 end
local key = PREFIX .. 'epoch'
if tonumber(ARGV[1]) > tonumber(redis.call('GET', key) or 0) then
  redis.call('SET', key, ARGV[1])
end
return 1
