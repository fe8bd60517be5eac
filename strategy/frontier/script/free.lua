-- Begins a script that frees memory. Redis that has no free memory refuses a command that may take some, unless the
-- script has written before. So the script first deletes a key that never exists.
redis.call('UNLINK', KEYS[1])
