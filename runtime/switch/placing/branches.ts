/** The branches of a call to phones: one for each address of each callee. */
import { randomUUID } from 'node:crypto';
import type { TailStep } from '../../runs/index.ts';
import { ANONYMOUS, answer, bracketUri, callerAddr, WITHHELD } from '../../signalling/index.ts';
import { ANONYMOUS_CALLER, type Callee, type CalleeAddress } from '../addresses/callee.ts';
import { BranchLeg } from '../legs/branch-leg.ts';
import type { Device } from '../legs/leg.ts';
import type { Party } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';
import type { AttemptOptions } from './attempt.ts';
import type { Fork, ForkTarget } from './fork.ts';
import type { InTurn } from './in-turn.ts';
import type { Offers } from './offers.ts';
import { signatureHeaders } from './signature.ts';
import { verifiedHeaders } from './verified-headers.ts';

/** A callee, and what was dialled to reach it. */
export interface Called {
  readonly callee: Callee;
  readonly dialled: string;
  /** Sent to it after the answer. */
  readonly tail: readonly TailStep[];
}

interface LegUris {
  readonly localuri: string;
  readonly remoteuri: string;
}

/** A called address, and its callee. */
export interface Reached {
  readonly target: Called;
  readonly address: CalleeAddress;
}

/** An address to call. */
export interface Branch {
  readonly callee: Callee;
  readonly address: CalleeAddress;
  readonly callId: string;
  readonly uris: LegUris;
}

/** What branches share with their call. */
interface Shared {
  readonly offers: Offers;
  readonly inTurn: InTurn;
  /** Present once they are called. */
  fork(): Fork | undefined;
  /** The SIP server for addresses that name none. */
  via(): string | undefined;
}

/** Makes the branches of a call, also those of callees to which a phone forwards it. */
export class Branches {
  readonly #tools: SwitchTools;
  readonly #options: AttemptOptions;
  readonly #shared: Shared;
  /** The called addresses, by Call-ID of the branch. */
  readonly #called = new Map<string, Reached>();
  /** Accounts that were called: a redirection to one of them is dropped, as it could go in circles. */
  readonly #accounts = new Set<string>();
  /** Headers, by Call-ID. */
  readonly #signatures = new Map<string, Readonly<Record<string, string>>>();

  constructor(tools: SwitchTools, options: AttemptOptions, shared: Shared) {
    this.#tools = tools;
    this.#options = options;
    this.#shared = shared;
  }

  reached(callId: string): Reached | undefined {
    return this.#called.get(callId);
  }

  /** Adds a branch to the dialog for every address of a callee that is called at once. */
  add(target: Called): Branch[] {
    const { callee } = target;
    if (this.#accounts.has(callee.account)) return [];
    this.#accounts.add(callee.account);
    return this.#shared.inTurn.first(callee).map((address) => this.addOne(target, address));
  }

  /** Adds a branch for one address. */
  addOne(target: Called, address: CalleeAddress): Branch {
    const { dialog, domain, callerNumber, timeoutMs } = this.#options;
    const { callee } = target;
    const { called, host, caller } = callee;
    const uris = {
      localuri: bracketUri(caller?.number ?? callerNumber, caller?.host ?? domain),
      remoteuri: bracketUri(called, host),
    };
    const callId = `${randomUUID()}@${host}`;
    this.#called.set(callId, { target, address });
    const giveUp = (): void => this.#shared.fork()?.cancel(answer(487, undefined, true));
    const leg = new BranchLeg(callId, partyAt(callee, address), giveUp, {
      device: this.#device(address, callId),
      tags: () => this.#shared.fork()?.invite(callId)?.tags ?? [],
    });
    dialog.addBranch(leg, uris, Date.now() + timeoutMs);
    return { callee, address, callId, uris };
  }

  /** The device of a ringing contact, which a NOTIFY can ask to answer. */
  #device({ allowEvents = [] }: CalleeAddress, callId: string): Device {
    const invite = () => this.#shared.fork()?.invite(callId);
    const failed = (err: unknown) => this.#tools.failed(err, 'NOTIFY', { callid: callId });
    return {
      get allowEvents() {
        return new Set([...allowEvents, ...(invite()?.allowEvents ?? [])]);
      },
      notify: (event) => invite()?.notify(event, failed) === true,
    };
  }

  /** The INVITE of a branch. */
  target({ callee, address, callId, uris }: Branch): ForkTarget {
    const offer = this.#shared.offers.of(callId);
    const { domain, callerName, callerNumber, headers } = this.#options;
    const { credentials, identity } = callee;
    const caller =
      callee.caller ??
      (callerNumber === ANONYMOUS ? ANONYMOUS_CALLER : { number: callerNumber, name: callerName, host: domain });
    const isWithheld = caller.number === ANONYMOUS;
    const calling = this.#options.caller.party;
    const patience = this.#shared.inTurn.patience({ callee, address });
    return {
      account: callee.account,
      ...(patience && { patience }),
      uri: address.uri,
      ...(address.nextHop === undefined ? {} : { nextHop: address.nextHop }),
      ...(address.route === undefined ? {} : { route: address.route }),
      via: address.via ?? this.#shared.via(),
      callId,
      from: callerAddr(caller.name, caller.number, caller.host),
      to: uris.remoteuri,
      sdp: offer?.description.of(offer.endpoint.localSdp) ?? '',
      headers: {
        ...headers,
        ...(isWithheld ? WITHHELD : verifiedHeaders(calling, callee.party, caller)),
        ...identity,
        ...this.#signatures.get(callId),
      },
      ...(calling.kind === 'conference' ? { room: calling.number } : {}),
      ...(credentials === undefined ? {} : { credentials }),
    };
  }

  /** Each call to an address has a signature of its own. */
  async sign(branches: readonly Branch[]): Promise<void> {
    const { party } = this.#options.caller;
    await Promise.all(
      branches.map(async ({ callee, callId: callid }) => {
        if (callee.signed === undefined) return;
        this.#signatures.set(callid, await signatureHeaders(this.#tools, callee, party, { callid }));
      }),
    );
  }
}

/** The party of a leg to an address. */
export function partyAt({ party }: Callee, { gateway }: CalleeAddress): Party {
  return party.kind === 'provider' && gateway !== undefined ? { ...party, gateway: gateway.name } : party;
}
