-- Makes the frontier one that was built under other settings. A fence has checked those before.
-- ARGV: value of the key settings.
redis.call('SET', SETTINGS, ARGV[1])
return 0
