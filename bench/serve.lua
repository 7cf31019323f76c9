-- What `wrk` sends for bench/serve.py: POST /translate, each request the next line of a file.
--
--     WAIT=200 wrk -t1 -c32 -d10s -s bench/serve.lua http://127.0.0.1:5000 -- BODIES.jsonl
--
-- WAIT: milliseconds between two requests of a connection, on average; without it, none.
-- Prints as JSON how many answers had which status.

local wait = tonumber(os.getenv("WAIT") or "0")
local threads = {}

function setup(thread)
   table.insert(threads, thread)
end

function init(args)
   bodies, place, statuses = {}, 0, {}
   for line in io.lines(args[1]) do
      bodies[#bodies + 1] = line
   end
end

function request()
   place = place % #bodies + 1
   return wrk.format("POST", "/translate", { ["Content-Type"] = "application/json" }, bodies[place])
end

if wait > 0 then -- wrk sets a timer for each request if there is such a function, also for one of 0 ms
   function delay()
      return math.random(0, 2 * wait)
   end
end

function response(status)
   statuses[status] = (statuses[status] or 0) + 1
end

function done(summary)
   local counts = {}
   for _, thread in ipairs(threads) do
      for status, count in pairs(thread:get("statuses")) do
         counts[status] = (counts[status] or 0) + count
      end
   end
   local parts = {}
   for status, count in pairs(counts) do
      parts[#parts + 1] = string.format('"%d": %d', status, count)
   end
   local errors = summary.errors
   print(string.format('{"seconds": %.3f, "broken": %d, "statuses": {%s}}', summary.duration / 1e6,
      errors.connect + errors.read + errors.write + errors.timeout, table.concat(parts, ", ")))
end
