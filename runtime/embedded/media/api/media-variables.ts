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

/**
 * The figures of a session as the variables that `uuid_set_media_stats` sets, and that the events at the end of a
 * channel have.
 */
export function mediaVariables({ counters, reception, reported, security }: Measured): [string, string][] {
  const { lost, packets, meanInterval, variance } = reception;
  const quality = packets === 0 ? 100 : Math.max(0, Math.floor(((packets - lost) / packets) * 100));
  const values: Record<string, number | string> = {
    in_raw_bytes: counters.inRawBytes,
    in_media_bytes: counters.inMediaBytes,
    in_packet_count: counters.inPackets,
    in_media_packet_count: counters.inMediaPackets,
    in_skip_packet_count: counters.inSkipPackets,
    in_jitter_packet_count: 0,
    in_dtmf_packet_count: counters.inDtmfPackets,
    in_cng_packet_count: counters.inCngPackets,
    in_flush_packet_count: 0,
    in_largest_jb_size: 0,
    in_jitter_min_variance: variance.least.toFixed(2),
    in_jitter_max_variance: variance.greatest.toFixed(2),
    in_jitter_loss_rate: (packets === 0 ? 0 : lost / packets).toFixed(2),
    in_jitter_burst_rate: '0.00',
    in_mean_interval: meanInterval.toFixed(2),
    in_flaw_total: lost,
    in_quality_percentage: quality.toFixed(2),
    in_mos: (packets === 0 ? 4.5 : meanOpinion(quality)).toFixed(2),
    out_raw_bytes: counters.outRawBytes,
    out_media_bytes: counters.outMediaBytes,
    out_packet_count: counters.outPackets,
    out_media_packet_count: counters.outMediaPackets,
    out_skip_packet_count: 0,
    out_dtmf_packet_count: counters.outDtmfPackets,
    out_cng_packet_count: 0,
    rtcp_packet_count: 0,
    rtcp_octet_count: 0,
    // FreeSWITCH has no variables of these.
    ...(security.rejected > 0 && { in_rejected_packet_count: security.rejected }),
    ...(reported && { rtcp_reported_lost: reported.lost, rtcp_reported_jitter: reported.jitter.toFixed(2) }),
  };
  return Object.entries(values).map(([name, value]) => [`rtp_audio_${name}`, String(value)]);
}

/** The mean opinion score of a rating factor (ITU-T G.107 annex B), as FreeSWITCH computes it. */
function meanOpinion(quality: number): number {
  return 1 + 0.035 * quality + 0.000007 * quality * (quality - 60) * (100 - quality);
}
