/** Limits of scenarios, as `opts.limits` of scripts and the setting `scenario_limits` name them. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  cpu: /^\d+(\.\d+)?(ms|s|m|h)$/,
  activation: /^\d+(\.\d+)?(ms|s)$/,
  wall: /^\d+(\.\d+)?(ms|s|m|h)$/,
  memory: /^\d{1,3}$/,
  pending: /^\d{1,4}$/,
  log: /^\d{1,6}$/,
  steps: /^\d{1,6}$/,
};

/** What they must be, for messages. */
export const LIMITS_ARE = `an object with ${Object.keys(PATTERNS).join(', ')}, e.g. {"cpu": "2s", "memory": 16}`;

export function areLimits(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, limit]: [string, unknown]) =>
      (typeof limit === 'string' || typeof limit === 'number') && PATTERNS[name]?.test(String(limit)) === true,
  );
}
