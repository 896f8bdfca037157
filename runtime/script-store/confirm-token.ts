/** External tokens: the service scenario of the master domain says whose they are (specification, "Authentication" 3). */
import type { Directory } from '../domain/index.ts';
import { type ConfirmedUser, type ConfirmToken, TokenScenarioError } from '../iam/index.ts';
import type { Log, RunOutcome, ScenarioStarter } from '../runs/index.ts';

/** Timeout of a login. */
const WAIT_MS = 10_000;

/**
 * Runs the scenario in the master domain with the argument `token`. It confirms by the fields `domain` and `login` of its
 * return value or of its report, or by variables of these names.
 */
export function tokenConfirmer(
  starter: Pick<ScenarioStarter, 'service'>,
  directory: Pick<Directory, 'domains'>,
  log: Log,
): ConfirmToken {
  return async (code, token) => {
    const domain = directory.domains().find(({ isMaster }) => isMaster)?.name;
    if (domain === undefined) return undefined;
    const fail = (fault: 'missing' | 'no_answer', what: string, details: object): never => {
      log.error({ scenario: code, ...details }, `the scenario that confirms tokens ${what}`);
      throw new TokenScenarioError(fault, `The scenario ${code} that confirms tokens ${what}.`);
    };
    const result = await starter
      .service(code, { domain, args: { token }, waitMs: WAIT_MS })
      .catch((error: unknown) => fail('no_answer', 'could not be started', { err: error }));
    if (result.kind === 'unknown') return fail('missing', 'does not exist', {});
    const { outcome, run } = result;
    if (outcome === undefined) return fail('no_answer', 'takes too long', { run });
    if (outcome.status === 'completed') return userOf(outcome);
    // A scenario may refuse a token by throwing.
    const reason = outcome.error?.message ?? outcome.status;
    log.error({ scenario: code, run, reason }, 'the scenario that confirms tokens did not complete');
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
