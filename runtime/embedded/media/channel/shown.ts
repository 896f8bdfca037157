import type { Identity } from '../core/identity.ts';
import type { SessionCounters } from '../rtp/figures.ts';
import type { OtherLeg } from './parts.ts';
import type { CallerProfile, ChannelTimes, LegState } from './profile.ts';
import type { CallStateName, ChannelStateName } from './state.ts';

/** What events and variables show of a channel. */
export interface ShownChannel {
  readonly uuid: string;
  readonly core: { readonly identity: Identity };
  readonly state: ChannelStateName;
  readonly stateNumber: number;
  readonly callState: CallStateName;
  readonly ended: boolean;
  readonly hangupCause: string | undefined;
  readonly profile: CallerProfile;
  readonly times: Readonly<ChannelTimes>;
  readonly leg: LegState;
  /** The leg it is or was bridged to. */
  readonly otherLeg: OtherLeg | undefined;
  /** True while an application reads linear samples: events name that codec. */
  readonly readsLinear: boolean;
  readonly rtp: { readonly codec: { readonly name: string }; readonly counters: Readonly<SessionCounters> };
  readonly variables: ReadonlyMap<string, string | readonly string[]>;
  /** The first value of a variable. */
  get(name: string): string | undefined;
}
