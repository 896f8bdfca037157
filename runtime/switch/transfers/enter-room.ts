/** Transfers into a conference room. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Participant } from '../../conference/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import type { EnteredRoom, EnterOptions, RoomTransfer, Transfer } from '../../runs/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { CallingLeg } from '../legs/leg.ts';
import type { SwitchTools } from '../tools.ts';
import { startTransfer, type TransferExtras } from './transfer.ts';

/** What a transfer into a room has beside its target. */
interface EnteringExtras extends Pick<TransferExtras, 'beforeSettling'> {
  /** A participant whose place the party takes, and who leaves when the party is in. */
  readonly instead?: Participant;
}

/**
 * Transfers the opponent of a scenario into a room of the scenario's domain, without a PIN. The transfer fails with 404 for
 * an unknown room, and with 486 for a full one.
 */
export function startEntering(
  tools: SwitchTools,
  old: CallDialog,
  opponent: CallingLeg,
  domain: DomainName,
  { room, moderator, muted, binding, referredBy }: EnterOptions,
  { instead, ...extras }: EnteringExtras = {},
): { readonly transfer: Transfer; readonly room: RoomTransfer['room'] } {
  let entered: EnteredRoom | undefined;
  const decision = roomDecision(tools, domain, room);
  const to = decision.kind === 'conference' ? decision.featureCode.prefix + decision.room : room;
  const transfer = startTransfer(
    tools,
    old,
    opponent,
    {
      to,
      ringback: false,
      ...(binding === undefined ? {} : { binding }),
      ...(referredBy === undefined ? {} : { referredBy }),
    },
    {
      ...extras,
      destination: { decision, domain },
      entrance: { brought: true, moderator, muted, ...(instead && { instead }) },
      onEntered: (at) => {
        entered = at;
      },
    },
  );
  // In a cluster another node may have the room.
  const later = tools.others !== undefined && entered === undefined && decision.kind === 'conference';
  return { transfer, room: later ? transfer.final.then(() => entered) : entered };
}

/** The route into a room, from its whole number or from the digits after the domain's conference featurecode. */
function roomDecision({ directory }: SwitchTools, domain: DomainName, room: string): RouteDecision {
  const whole = directory.route(domain, undefined, room);
  if (whole.kind === 'conference') return whole;
  const featureCode = directory.featureCode(domain, 'conference');
  if (featureCode === undefined || !/^\d*$/.test(room)) return { kind: 'reject', status: 404, reason: 'Not Found' };
  return { kind: 'conference', room, featureCode };
}
