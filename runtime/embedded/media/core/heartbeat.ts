/** The HEARTBEAT event. */
import { MAX_SESSIONS, MAX_SESSIONS_PER_SECOND, VERSION } from './identity.ts';
import type { MediaCore } from './media-core.ts';

/** FreeSWITCH's `event-heartbeat-interval`, as `freeswitch-config/` sets it. */
const INTERVAL_MS = 5000;

/** Publishes HEARTBEAT every 5 seconds, until the core's timers are cleared. */
export function startHeartbeat(core: MediaCore): void {
  let usage = process.cpuUsage();
  let at = Date.now();
  core.timers.every(INTERVAL_MS, () => {
    const { user, system } = process.cpuUsage(usage);
    const elapsed = Math.max(1, Date.now() - at);
    usage = process.cpuUsage();
    at = Date.now();
    const idle = Math.max(0, 100 - (user + system) / 10 / elapsed);
    core.bus.publish('HEARTBEAT', () => heartbeat(core, idle));
  });
}

function heartbeat(core: MediaCore, idle: number): Record<string, string> {
  const { sinceStart, peak, lastSecond, peakRate } = core.sessions.figures();
  return {
    ...core.identity.eventHeaders('HEARTBEAT'),
    'Event-Info': 'System Ready',
    'Up-Time': core.identity.upTime(),
    'FreeSWITCH-Version': VERSION,
    'Uptime-msec': String(Date.now() - core.identity.startedAt),
    'Session-Count': String(core.channels.size),
    'Max-Sessions': String(MAX_SESSIONS),
    'Session-Per-Sec': String(MAX_SESSIONS_PER_SECOND),
    'Session-Per-Sec-Last': String(lastSecond),
    'Session-Per-Sec-Max': String(peakRate),
    'Session-Per-Sec-FiveMin': String(peakRate),
    'Session-Since-Startup': String(sinceStart),
    'Session-Peak-Max': String(peak),
    'Session-Peak-FiveMin': String(peak),
    'Idle-CPU': idle.toFixed(6),
  };
}
