/** The transfers of a scenario's call. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type {
  Answer,
  CancellableTransfer,
  DialogSide,
  EnterOptions,
  HuntTransfer,
  ReferOptions,
  RoomTransfer,
  Transfer,
  TransferOptions,
} from '../../runs/index.ts';
import type { CallState } from '../../language/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { startEntering } from '../transfers/enter-room.ts';
import { wayBack } from '../transfers/give-back.ts';
import type { HeldParty } from '../transfers/held-party.ts';
import { startJoin } from '../transfers/join.ts';
import type { CallingLeg } from '../legs/leg.ts';
import type { Party } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';
import { startForward, type Unanswered } from '../transfers/forward.ts';
import { startHunt, startTransfer, type Targets, toFirst, toNumber } from '../transfers/transfer.ts';

/** The opponent that a scenario's call gives away in a transfer, and its dialog. */
export interface GivenAway {
  readonly dialog: CallDialog;
  readonly opponent: CallingLeg;
  /** The opponent's former peer, if the opponent was taken over. */
  readonly takenFrom: Party | undefined;
  /** The former peer, while it is on hold. */
  readonly held: HeldParty | undefined;
  /** Present for a caller who is not answered yet. */
  readonly unanswered: Unanswered | undefined;
}

/** The scenario's call, as its transfers see it. */
export interface TransferringCall {
  readonly domain: DomainName;
  state(): CallState;
  /**
   * Changes the state to `transferred`.
   * @param forwards whether the operation takes a caller who is not answered yet
   * @throws CallStateError in a state without an opponent to give away
   */
  giveAway(operation: string, forwards?: boolean): GivenAway;
  /** The transfer ended: the opponent has left, or is back after a failure or a cancellation. */
  settled(result: Answer, cancelled: boolean): void;
}

/** The transfers of a scenario's call, one at a time: its opponent goes to a target, and returns when that fails. */
export class IvrTransfers {
  readonly #tools: SwitchTools;
  readonly #call: TransferringCall;
  #latest: Transfer | undefined;

  constructor(tools: SwitchTools, call: TransferringCall) {
    this.#tools = tools;
    this.#call = call;
  }

  /** The dialog of the opponent with its transfer target. */
  get dialog(): CallDialog | undefined {
    return this.#latest === undefined ? undefined : this.#tools.dialogs.find(this.#latest.dialogid);
  }

  join(side: DialogSide & TransferOptions): CancellableTransfer {
    const { dialog, opponent } = this.#call.giveAway('join');
    return this.#follow(startJoin(this.#tools, dialog, opponent, side), opponent);
  }

  refer(options: ReferOptions): CancellableTransfer {
    const { dialog, opponent, takenFrom, held, unanswered } = this.#call.giveAway('refer', true);
    if (unanswered !== undefined) {
      const targets = toNumber(this.#tools, opponent, options.to, { domain: this.#call.domain });
      return this.#forward(unanswered, targets, options);
    }
    if (options.back === true && held?.there === true)
      return { ...this.#follow(held.takeBack(dialog, opponent), opponent), cancel: () => undefined };
    held?.playMelody();
    const own = this.#call.domain;
    const { to } = options;
    const domain = options.domain === undefined ? own : this.#named(options.domain);
    const extras =
      domain === own
        ? { domain: own }
        : { destination: { decision: wayBack(this.#tools, takenFrom, { domain, number: to }), domain } };
    return this.#follow(startTransfer(this.#tools, dialog, opponent, options, extras), opponent);
  }

  referToFirst(targets: readonly string[], options: Omit<ReferOptions, 'to'>): HuntTransfer & CancellableTransfer {
    const { dialog, opponent, unanswered } = this.#call.giveAway('hunt', true);
    const { domain } = this.#call;
    if (unanswered !== undefined) {
      const { member, ...reached } = toFirst(this.#tools, opponent, targets, domain);
      const forwarded = this.#forward(unanswered, reached, options);
      return { ...forwarded, answeredBy: forwarded.final.then(member) };
    }
    const { answeredBy, ...transfer } = startHunt(this.#tools, dialog, opponent, targets, { ...options, domain });
    return { ...this.#follow(transfer, opponent), answeredBy };
  }

  enterRoom(options: EnterOptions): RoomTransfer {
    const { dialog, opponent } = this.#call.giveAway('enterRoom');
    const { transfer, room } = startEntering(this.#tools, dialog, opponent, this.#call.domain, options);
    return { ...this.#follow(transfer, opponent), room };
  }

  /** The domain that an author names. An unknown one keeps its spelling, and no party is found in it. */
  #named(domain: string): DomainName {
    return this.#tools.directory.domain(domain)?.name ?? asDomainName(domain);
  }

  #forward(unanswered: Unanswered, targets: Targets, options: Omit<ReferOptions, 'to'>): CancellableTransfer {
    const forwarded = startForward(this.#tools, unanswered, targets, options);
    return this.#followed(forwarded, () => forwarded.cancel());
  }

  #follow(transfer: Transfer, opponent: CallingLeg): CancellableTransfer {
    this.#latest = transfer;
    return this.#followed(transfer, () => this.#cancel(opponent));
  }

  #followed(transfer: Transfer, cancel: () => void): CancellableTransfer {
    let cancelled = false;
    const final = transfer.final.then((result) => {
      this.#call.settled(result, cancelled);
      return result;
    });
    const stop = (): void => {
      cancelled = true;
      cancel();
    };
    return { ...transfer, final, cancel: stop };
  }

  /** Stops the ringing of the target, and the opponent returns. The attempt ends with 487. */
  #cancel(opponent: CallingLeg): void {
    if (this.#call.state() !== 'transferred') return;
    this.dialog?.endWithout(opponent, { by: 'external', status: 487, reason: 'Request Terminated' });
  }
}
