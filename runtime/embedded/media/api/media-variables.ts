import type { SessionCounters } from '../rtp/figures.ts';

/** The counters of a session as the variables that `uuid_set_media_stats` sets. */
export function mediaVariables(counters: Readonly<SessionCounters>): [string, string][] {
  const values: Record<string, number> = {
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
    in_jitter_min_variance: 0,
    in_jitter_max_variance: 0,
    in_jitter_loss_rate: 0,
    in_jitter_burst_rate: 0,
    in_mean_interval: 20,
    in_flaw_total: 0,
    in_quality_percentage: 100,
    in_mos: 4.5,
    out_raw_bytes: counters.outRawBytes,
    out_media_bytes: counters.outMediaBytes,
    out_packet_count: counters.outPackets,
    out_media_packet_count: counters.outMediaPackets,
    out_skip_packet_count: 0,
    out_dtmf_packet_count: counters.outDtmfPackets,
    out_cng_packet_count: 0,
    rtcp_packet_count: 0,
    rtcp_octet_count: 0,
  };
  return Object.entries(values).map(([name, value]) => [`rtp_audio_${name}`, String(value)]);
}
