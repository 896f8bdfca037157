import type { SessionCounters } from '../rtp/figures.ts';
import type { Reception } from '../rtp/reception.ts';

/** The part of a session that is shown. */
interface Measured {
  readonly counters: Readonly<SessionCounters>;
  readonly reception: Reception;
  /** Lost packets and jitter, ms, as reported by the far end. */
  readonly reported: { readonly lost: number; readonly jitter: number } | undefined;
  readonly security: { readonly rejected: number };
}

/** A figure; undefined when there is none. */
type Figure = (session: Measured) => string | undefined;

const none = (): string => '0';

/** The figures of a session by the names of their variables, in the order of the events at the end of a channel. */
export const MEDIA_VARIABLES: ReadonlyMap<string, Figure> = new Map(
  Object.entries<Figure>({
    in_raw_bytes: ({ counters }) => String(counters.inRawBytes),
    in_media_bytes: ({ counters }) => String(counters.inMediaBytes),
    in_packet_count: ({ counters }) => String(counters.inPackets),
    in_media_packet_count: ({ counters }) => String(counters.inMediaPackets),
    in_skip_packet_count: ({ counters }) => String(counters.inSkipPackets),
    in_jitter_packet_count: none,
    in_dtmf_packet_count: ({ counters }) => String(counters.inDtmfPackets),
    in_cng_packet_count: ({ counters }) => String(counters.inCngPackets),
    in_flush_packet_count: none,
    in_largest_jb_size: none,
    in_jitter_min_variance: ({ reception }) => reception.variance.least.toFixed(2),
    in_jitter_max_variance: ({ reception }) => reception.variance.greatest.toFixed(2),
    in_jitter_loss_rate: ({ reception: { lost, packets } }) => (packets === 0 ? 0 : lost / packets).toFixed(2),
    in_jitter_burst_rate: () => '0.00',
    in_mean_interval: ({ reception }) => reception.meanInterval.toFixed(2),
    in_flaw_total: ({ reception }) => String(reception.lost),
    in_quality_percentage: ({ reception }) => qualityOf(reception).toFixed(2),
    in_mos: ({ reception }) => (reception.packets === 0 ? 4.5 : meanOpinion(qualityOf(reception))).toFixed(2),
    out_raw_bytes: ({ counters }) => String(counters.outRawBytes),
    out_media_bytes: ({ counters }) => String(counters.outMediaBytes),
    out_packet_count: ({ counters }) => String(counters.outPackets),
    out_media_packet_count: ({ counters }) => String(counters.outMediaPackets),
    out_skip_packet_count: none,
    out_dtmf_packet_count: ({ counters }) => String(counters.outDtmfPackets),
    out_cng_packet_count: none,
    rtcp_packet_count: none,
    rtcp_octet_count: none,
    // FreeSWITCH has no variables of these.
    in_rejected_packet_count: ({ security }) => (security.rejected > 0 ? String(security.rejected) : undefined),
    rtcp_reported_lost: ({ reported }) => reported && String(reported.lost),
    rtcp_reported_jitter: ({ reported }) => reported?.jitter.toFixed(2),
  }).map(([name, figure]) => [`rtp_audio_${name}`, figure]),
);

/** The part of the packets that came, in percent. */
function qualityOf({ packets, lost }: Reception): number {
  return packets === 0 ? 100 : Math.max(0, Math.floor(((packets - lost) / packets) * 100));
}

/** The mean opinion score of a rating factor (ITU-T G.107 annex B), as FreeSWITCH computes it. */
function meanOpinion(quality: number): number {
  return 1 + 0.035 * quality + 0.000007 * quality * (quality - 60) * (100 - quality);
}
