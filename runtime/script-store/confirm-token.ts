/** External tokens: the service scenario of the master domain says whose they are (specification, "Authentication" 3). */
import type { Directory } from '../domain/directory.ts';
import type { ConfirmedUser, ConfirmToken } from '../iam/index.ts';
import type { Log } from '../interpreter/log.ts';
import type { RunOutcome } from '../interpreter/run/run.ts';
import type { ScenarioStarter } from '../interpreter/starting/starter.ts';

/** A login does not wait longer. */
const WAIT_MS = 10_000;

/**
 * Runs the scenario in the master domain with the argument `token`. It confirms with the fields `domain` and `login` of
 * what it returns, or of what it reported, or with its variables of these names.
 */
export function tokenConfirmer(
  starter: Pick<ScenarioStarter, 'service'>,
  directory: Pick<Directory, 'domains'>,
  log: Log,
): ConfirmToken {
  return async (code, token) => {
    const domain = directory.domains().find(({ isMaster }) => isMaster)?.name;
    if (domain === undefined) return undefined;
    try {
      const result = await starter.service(code, { domain, args: { token }, waitMs: WAIT_MS });
      if (result.kind === 'unknown') {
        log.error({ scenario: code }, 'the scenario that confirms tokens does not exist');
        return undefined;
      }
      const { outcome, run } = result;
      if (outcome?.status === 'completed') return userOf(outcome);
      const reason = outcome === undefined ? 'it takes too long' : (outcome.error?.message ?? outcome.status);
      log.error({ scenario: code, run, reason }, 'the scenario that confirms tokens did not complete');
    } catch (error) {
      log.error({ scenario: code, err: error }, 'the scenario that confirms tokens could not be started');
    }
    return undefined;
  };
}

function userOf({ value, result, variables }: RunOutcome): ConfirmedUser | undefined {
  for (const said of [value, result, variables]) {
    if (typeof said !== 'object' || said === null) continue;
    const { domain, login } = said as { readonly domain?: unknown; readonly login?: unknown };
    if (typeof domain === 'string' && typeof login === 'string' && domain !== '' && login !== '')
      return { domain, login };
  }
  return undefined;
}
