/** Reports how calls with providers and calls to scenarios are answered, for metrics. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Provider } from '../../domain/index.ts';
import type { MediaObserver } from '../legs/phone-leg-tools.ts';
import { knownStatus } from '../../sip-facts/index.ts';
import type { Attempt } from './attempt.ts';

/** Receives final answers to calls, and the figures of legs. It must not throw. */
export interface CallObserver extends MediaObserver {
  /**
   * @param call.trunk code of the provider; `in`: it called
   * @param status final SIP status of the INVITE; one of the IANA registry
   * @param seconds since the INVITE
   */
  trunkCall(
    call: { readonly domain: DomainName; readonly trunk: string; readonly direction: 'in' | 'out' },
    status: number,
    seconds: number,
  ): void;
  /** The same for a call to a scenario that exists. @param code of the scenario */
  scenarioCall(domain: DomainName, code: string, status: number, seconds: number): void;
}

/** The part of the tools that is used here. */
interface Observed {
  readonly observer?: CallObserver | undefined;
}

type Answered = Pick<Attempt, 'final'>;

function onFinal(attempt: Answered, begun: number, tell: (status: number, seconds: number) => void): void {
  void attempt.final.then(({ status }) => tell(knownStatus(status), (performance.now() - begun) / 1000));
}

/** Reports the answer of a call with a provider, which begins now. */
export function observeTrunkCall(
  { observer }: Observed,
  { domain, code }: Provider,
  direction: 'in' | 'out',
  attempt: Answered,
): void {
  if (observer === undefined) return;
  onFinal(attempt, performance.now(), (status, seconds) =>
    observer.trunkCall({ domain, trunk: code, direction }, status, seconds),
  );
}

/**
 * Reports the answer of a call to a scenario. Only for a scenario that exists: callers can dial any code.
 * @param begun start of the call, milliseconds of `performance.now()`
 */
export function observeScenarioCall(
  { observer }: Observed,
  { domain, code, begun }: { readonly domain: DomainName; readonly code: string; readonly begun: number },
  attempt: Answered,
): void {
  if (observer === undefined) return;
  onFinal(attempt, begun, (status, seconds) => observer.scenarioCall(domain, code, status, seconds));
}
