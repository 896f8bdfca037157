import type { Codec } from '../audio/codec.ts';
import type { Identity } from '../core/identity.ts';
import type { SessionCounters } from '../rtp/figures.ts';
import type { Reception } from '../rtp/reception.ts';
import type { OtherLeg } from './parts.ts';
import type { CallerProfile, ChannelTimes, LegState } from './profile.ts';
import type { CallStateName, ChannelStateName } from './state.ts';

/** The values of a channel that events and variables show. */
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
  /** The leg of the current or last bridge. */
  readonly otherLeg: OtherLeg | undefined;
  /** True while an application reads linear samples: events then show the codec L16. */
  readonly readsLinear: boolean;
  readonly rtp: {
    readonly codec: Pick<Codec, 'name' | 'rate' | 'bitRate'>;
    readonly counters: Readonly<SessionCounters>;
    readonly reception: Reception;
    readonly reported: { readonly lost: number; readonly jitter: number } | undefined;
    readonly security: { readonly rejected: number };
  };
  readonly variables: ReadonlyMap<string, string | readonly string[]>;
  /** The first value of a variable. */
  get(name: string): string | undefined;
}
