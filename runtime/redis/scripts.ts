/**
 * Scripts of the shared replay store (docs/replay-store.md). Each is an atomic step on the two keys of a call.
 *
 * Keys of a call: for each nonce, the marker of a run (input hash 32 ‖ token 16); for each pair of nonce and input
 * hash, the record of an answer (record.ts). Keys of a store: the incarnation, which is lost with the data; the grace
 * period after a loss; and the lifetimes of each tool's records (lifetimes.ts). Expiry times are relative, on the clock
 * of the Redis server.
 *
 * Scripts that end a run must always have room, so `allow-oom` lets them exceed `maxmemory`.
 */

export interface Script {
  readonly name: string;
  readonly keys: number;
  readonly lua: string;
}

/** Keys of a script, then its other arguments. */
export type ScriptArguments = readonly (Buffer | string | number)[];

/** Replies of `claim` and `look`, other than a record. */
export const CLAIM = { run: 1, inFlight: 0, lost: -1, grace: -2, full: -3, repeatLost: -4 } as const;
/** Replies of `end` and `renew`. */
export const END = { conflict: 0, done: 1, restored: 2, otherHash: 3 } as const;

/**
 * Whether a record prevents a run: every record except a 403 or a mark (503). A record of an unknown version always
 * does.
 */
const BLOCKS = `
local function has_status(record, status)
  return string.byte(record, 1) == 1 and string.sub(record, 3, 4) == status
end
local function is_mark(record)
  return has_status(record, '\\1\\247')
end
local function blocks(record)
  return record ~= '' and not has_status(record, '\\1\\147') and not is_mark(record)
end
local function is_by(record, token)
  return string.byte(record, 1) == 1 and string.sub(record, 5, 20) == token
end`;

/** Lifetimes of a tool's records: pairs `milliseconds:until`, in milliseconds on the clock of the Redis server. */
const LIFETIMES = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function lifetimes(key)
  return string.gmatch(redis.call('GET', key) or '', '(%d+):(%d+)')
end`;

/**
 * Looks up a call. Only its own caller finds a stored 403; no caller finds the mark of an interrupted run. A repeated
 * request is lost if its pair has a mark, or a 403 of another caller, which may have replaced a mark; or if the pair is
 * unknown and a record of its age may have expired.
 *
 * KEYS marker, record, incarnation, grace, lifetimes; ARGV hash, token, caller, milliseconds, incarnation, age of a
 * repeated request in milliseconds or ''
 */
const LOOK_UP = `${LIFETIMES}
local function may_have_expired(age)
  local since = now() - age
  for ms, til in lifetimes(KEYS[5]) do
    if age >= tonumber(ms) and tonumber(til) >= since then return true end
  end
  return false
end
if redis.call('GET', KEYS[3]) ~= ARGV[5] then return ${CLAIM.lost} end
local run = redis.call('GET', KEYS[1])
if run and string.sub(run, 1, 32) == ARGV[1] then return ${CLAIM.inFlight} end
local record = redis.call('GET', KEYS[2])
if record and not is_mark(record) and (record == '' or blocks(record) or string.sub(record, 21, 36) == ARGV[3]) then return record end
local grace = redis.call('EXISTS', KEYS[4]) == 1
if ARGV[6] ~= '' and (record or not grace and may_have_expired(tonumber(ARGV[6]))) then return ${CLAIM.repeatLost} end
if run then return ${CLAIM.inFlight} end
if grace then return ${CLAIM.grace} end`;

/** Claims a run. */
const claim: Script = {
  name: "svcClaim",
  keys: 5,
  lua: `#!lua${BLOCKS}${LOOK_UP}
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[4])
return ${CLAIM.run}`,
};

/** Looks up without claiming, so that exact retries are answered even if Redis has no free memory. */
const look: Script = {
  name: "svcLook",
  keys: 5,
  lua: `#!lua flags=no-writes${BLOCKS}${LOOK_UP}
return ${CLAIM.full}`,
};

/**
 * Ends a run with its record. Can be repeated safely, and sets the lifetime again. `restored` means that the claim had
 * been lost.
 *
 * KEYS marker, record; ARGV hash ‖ token, record, milliseconds
 */
const end: Script = {
  name: "svcEnd",
  keys: 2,
  lua: `#!lua flags=allow-oom${BLOCKS}
local run = redis.call('GET', KEYS[1])
if run == ARGV[1] then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
  redis.call('DEL', KEYS[1])
  return ${END.done}
end
if run and string.sub(run, 1, 32) == string.sub(ARGV[1], 1, 32) then return ${END.conflict} end
local head = redis.call('GETRANGE', KEYS[2], 0, 35)
if is_by(head, string.sub(ARGV[1], 33)) then
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  return ${END.done}
end
if blocks(head) then return ${END.conflict} end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return ${END.restored}`,
};

/**
 * Renews the claim of a run, or claims it again after a loss.
 *
 * KEYS marker, record; ARGV hash ‖ token, milliseconds
 */
const renew: Script = {
  name: "svcRenew",
  keys: 2,
  lua: `#!lua flags=allow-oom${BLOCKS}
local run = redis.call('GET', KEYS[1])
if run == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return ${END.done}
end
local head = redis.call('GETRANGE', KEYS[2], 0, 35)
if is_by(head, string.sub(ARGV[1], 33)) then return ${END.done} end
if run and string.sub(run, 1, 32) ~= string.sub(ARGV[1], 1, 32) then return ${END.otherHash} end
if run or blocks(head) then return ${END.conflict} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ${END.restored}`,
};

/** Releases the claim of a run. KEYS marker; ARGV hash ‖ token. Returns whether the claim existed. */
const release: Script = {
  name: "svcRelease",
  keys: 1,
  lua: `#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`,
};

/**
 * Sets the lifetime of a record of this claim. KEYS record; ARGV token, milliseconds. Returns whether the record
 * existed.
 */
const touch: Script = {
  name: "svcTouch",
  keys: 1,
  lua: `#!lua flags=allow-oom
if redis.call('GETRANGE', KEYS[1], 4, 19) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
};

/**
 * Stores a lifetime of records. If there are more than 17, merges the two that ended first into one with the shorter
 * lifetime and the later end.
 *
 * KEYS lifetimes; ARGV lifetime, milliseconds for which it is valid, milliseconds for which lifetimes are stored
 */
const note: Script = {
  name: "svcNote",
  keys: 1,
  lua: `#!lua flags=allow-oom${LIFETIMES}
local time = now()
local kept = {}
for ms, til in lifetimes(KEYS[1]) do
  if ms ~= ARGV[1] and tonumber(til) >= time - ARGV[3] then kept[#kept + 1] = {tonumber(ms), tonumber(til)} end
end
table.sort(kept, function(a, b) return a[2] < b[2] end)
while #kept > 16 do
  kept[2][1] = math.min(kept[1][1], kept[2][1])
  table.remove(kept, 1)
end
local text = string.format('%s:%.0f', ARGV[1], time + ARGV[2])
for _, each in ipairs(kept) do text = string.format('%s %.0f:%.0f', text, each[1], each[2]) end
redis.call('SET', KEYS[1], text, 'PX', ARGV[3])
return 1`,
};

/**
 * Reads the incarnation and the remaining grace period. A new Redis process or a loss of data starts a new incarnation
 * with a grace period. The script also reads the server's identity, so that both come from the same server.
 *
 * KEYS incarnation, grace; ARGV random bytes, milliseconds of grace. Returns the incarnation and the milliseconds that
 * are left
 */
const hello: Script = {
  name: "svcHello",
  keys: 2,
  lua: `#!lua flags=allow-oom
local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, -17) ~= run_id then
  value = run_id .. ARGV[1]
  redis.call('SET', KEYS[1], value)
  if tonumber(ARGV[2]) > 0 then redis.call('SET', KEYS[2], '1', 'PX', ARGV[2]) end
end
return {value, redis.call('PTTL', KEYS[2])}`,
};

export const SCRIPTS = { claim, look, end, renew, release, touch, note, hello };
