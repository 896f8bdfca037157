import { randomUUID } from 'node:crypto';
import type { DomainName } from '../../domain-name/index.ts';
import {
  type CallEnd,
  type CallNotice,
  type CallPort,
  CallStateError,
  type PartyInfo,
  type PreAnswer,
  type TailStep,
} from '../../runs/index.ts';
import type { CallState } from '../../language/index.ts';
import type { MediaEndpoint } from '../../media/index.ts';
import { CallMedia, type ListenTo } from '../sound/call-media.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { LegOwner } from '../legs/leg.ts';
import { partyInfo } from '../legs/party.ts';
import type { PhoneLeg } from '../legs/phone-leg.ts';

/**
 * Lets a scenario serve a phone between its answer and the connection with its caller, who still hears ringback.
 * @param dialog of the call; its end ends the scenario's part too
 * @param node.decided aborted when another phone has the call, or nobody gets it
 * @returns whether to connect the phone, whose media is free then
 */
export async function servePreAnswer(
  leg: PhoneLeg,
  dialog: CallDialog,
  preAnswer: PreAnswer,
  { listenTo, decided }: { readonly listenTo: ListenTo | undefined; readonly decided: AbortSignal },
): Promise<boolean> {
  const call = new PreAnswerCall(leg, dialog.dialogid, listenTo);
  const callerGone = (): void => call.end({ by: 'external', reason: 'the caller is gone' });
  const lost = (): void => call.end({ by: 'external', reason: 'somebody else has the call' });
  leg.owner = call;
  if (decided.aborted) lost();
  decided.addEventListener('abort', lost, { once: true });
  if (leg.ended) call.legEnded(leg, 'BYE');
  if (dialog.ended.aborted) callerGone();
  dialog.ended.addEventListener('abort', callerGone, { once: true });
  try {
    return (await preAnswer(call)) && !call.endSignal.aborted;
  } finally {
    dialog.ended.removeEventListener('abort', callerGone);
    decided.removeEventListener('abort', lost);
    if (leg.owner === call) leg.owner = undefined;
    await call.quiet();
    // Digits pressed for this scenario are not meant for the next one.
    while (leg.endpoint?.digits.take() !== undefined);
  }
}

/** A scenario's call with a called party that is not connected yet: the scenario can play, listen and hang up. */
class PreAnswerCall extends CallMedia implements CallPort, LegOwner {
  readonly callid: string;
  readonly dialogid: string;
  readonly domain: DomainName;
  readonly opponent: PartyInfo;
  readonly opponentSide = 'b';
  readonly dialled = undefined;
  readonly own = undefined;
  protected readonly listenTo: ListenTo | undefined;
  readonly #leg: PhoneLeg;
  readonly #end = new AbortController();
  readonly #watchers = new Set<(notice: CallNotice) => boolean>();

  constructor(leg: PhoneLeg, dialogid: string, listenTo: ListenTo | undefined) {
    super();
    this.listenTo = listenTo;
    this.#leg = leg;
    this.dialogid = dialogid;
    this.domain = leg.party.domain;
    this.callid = `${randomUUID()}@${this.domain}`;
    this.opponent = partyInfo(leg.party);
  }

  get state(): CallState {
    return this.#end.signal.aborted ? 'ended' : 'connected';
  }

  get endSignal(): AbortSignal {
    return this.#end.signal;
  }

  end(end: CallEnd): void {
    if (!this.#end.signal.aborted) this.#end.abort(end);
  }

  legEnded(_leg: unknown, reason: string): void {
    this.end({ by: 'opponent', reason });
  }

  legRemoved(_leg: unknown, reason: string): void {
    this.end({ by: 'external', reason });
  }

  legHeld(_leg: unknown, held: boolean): Promise<void> {
    for (const watcher of this.#watchers) watcher({ kind: held ? 'hold' : 'unhold' });
    return Promise.resolve();
  }

  watch(watcher: (notice: CallNotice) => boolean): () => void {
    const leave = this.#leg.endpoint?.digits.watch((digit) => watcher({ kind: 'dtmf', digit }));
    this.#watchers.add(watcher);
    return () => {
      leave?.();
      this.#watchers.delete(watcher);
    };
  }

  hangup(): Promise<void> {
    this.end({ by: 'scenario', reason: 'hangup' });
    return Promise.resolve();
  }

  answer(): Promise<void> {
    return this.#end.signal.aborted ? this.#refuse('answer') : Promise.resolve();
  }

  ring(): Promise<void> {
    return this.#refuse('ring');
  }

  reject(): Promise<void> {
    return this.#refuse('reject');
  }

  sendDtmf(steps: readonly TailStep[], signal: AbortSignal): Promise<void> {
    return this.during('send_dtmf', signal, async (_, until) => {
      await this.#leg.dtmf.send(steps, 'rfc2833', until);
    });
  }

  protected media(operation: string): MediaEndpoint {
    const { endpoint } = this.#leg;
    if (endpoint === undefined || this.#end.signal.aborted) throw new CallStateError(operation, this.state);
    return endpoint;
  }

  #refuse(operation: string): Promise<never> {
    return Promise.reject(new CallStateError(operation, this.state));
  }
}
