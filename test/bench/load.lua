-- Sends each request of a file once: a list of "LENGTH\n" + raw HTTP request. Used by load.ts through wrk.
local requests, sent, received, bad = {}, 0, 0, 0
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  while true do
    local length = file:read("*n")
    if not length then break end
    file:read(1)
    table.insert(requests, file:read(length))
  end
  file:close()
  limit = tonumber(args[2])
  non200 = 0
  -- Until here it was reading: load.ts counts the CPU from this word on.
  io.write("ready\n")
  io.flush()
end

function request()
  sent = sent + 1
  return requests[math.min(sent, #requests)]
end

function response(status)
  received = received + 1
  if status ~= 200 then non200 = non200 + 1 end
  if received == limit then
    -- wrk sleeps until its time is over, unless it is interrupted: load.ts does that at this word.
    io.write("done\n")
    io.flush()
    wrk.thread:stop()
  end
end

function done(summary, latency)
  local non200 = 0
  for _, thread in ipairs(threads) do non200 = non200 + thread:get("non200") end
  io.write(string.format('{"calls":%d,"seconds":%f,"p50":%f,"p99":%f,"non200":%d,"errors":%d}\n', summary.requests,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, non200,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
