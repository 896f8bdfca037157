/** Addresses that are called one after the other: the gateways of a provider. */
import type { SipAnswer } from '../../signalling/index.ts';
import type { Callee, CalleeAddress } from '../addresses/callee.ts';
import { isGone } from '../esg/gateways.ts';
import type { SwitchTools } from '../tools.ts';
import type { Patience } from './silence.ts';

/** An address that was called, and its callee. */
interface CalledAddress {
  readonly callee: Callee;
  readonly address: CalleeAddress;
}

/** True for an answer after which another gateway may do better: any 5xx, and an address that nobody answers at. */
function isFailure(answer: SipAnswer): boolean {
  return answer.local ? isGone(answer) : answer.status >= 500 && answer.status < 600;
}

/** Finds the next address of a callee. An address that has begun to ring keeps the call, so that no phone rings twice. */
export class InTurn {
  readonly #tools: Pick<SwitchTools, 'gateways' | 'log'>;
  /** The addresses that are left, by account of the callee. */
  readonly #left = new Map<string, readonly CalleeAddress[]>();
  /** Call-IDs of the addresses that answered provisionally. */
  readonly #heard = new Set<string>();

  constructor(tools: Pick<SwitchTools, 'gateways' | 'log'>) {
    this.#tools = tools;
  }

  /** The addresses to call at once. */
  first(callee: Callee): readonly CalleeAddress[] {
    if (callee.inTurn !== true) return callee.addresses;
    this.#left.set(callee.account, callee.addresses.slice(1));
    return callee.addresses.slice(0, 1);
  }

  /** How long an address may be silent. */
  patience({ callee: { party }, address: { gateway } }: CalledAddress): Patience | undefined {
    if (party.kind !== 'provider' || gateway === undefined || party.provider.gatewayTimeoutMs === 0) return undefined;
    const { provider } = party;
    return { ms: provider.gatewayTimeoutMs, isThere: (ms) => this.#tools.gateways.isThere(provider, gateway, ms) };
  }

  /** An address answered, provisionally (101-199) or finally. */
  heard(callId: string, { callee, address }: CalledAddress, said: SipAnswer): void {
    if (this.#heard.has(callId)) return;
    this.#heard.add(callId);
    this.#report({ callee, address }, said);
  }

  /** The address to call after a failure; undefined when the call is over. */
  next(callId: string, called: CalledAddress, refusal: SipAnswer): CalleeAddress | undefined {
    const { callee, address } = called;
    if (callee.party.kind !== 'provider' || address.gateway === undefined || this.#heard.has(callId)) return undefined;
    this.#report(called, refusal);
    if (!isFailure(refusal)) return undefined;
    const [next, ...left] = this.#left.get(callee.account) ?? [];
    this.#left.set(callee.account, left);
    const { code, domain } = callee.party.provider;
    const { status, reason, local } = refusal;
    const details = { provider: code, domain, gateway: address.gateway.name, status, reason, local, callid: callId };
    const next_gateway = next?.gateway?.name;
    this.#tools.log.warn(
      { ...details, ...(next_gateway !== undefined && { next_gateway }) },
      next === undefined ? 'the last gateway of a provider failed' : 'a gateway failed: the next one is called',
    );
    return next;
  }

  #report({ callee: { party }, address: { gateway } }: CalledAddress, said: SipAnswer): void {
    if (party.kind === 'provider' && gateway !== undefined) this.#tools.gateways.called(party.provider, gateway, said);
  }
}
