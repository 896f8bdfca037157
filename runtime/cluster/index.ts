/** The door of this room: what other rooms use of it. Loaded only where the settings name a cluster. */
export type { ClusterCallStore } from './calls/cluster-callstore.ts';
export type { ClusterConferences } from './rooms/cluster-conferences.ts';
export type { ClusterOperations, ClusterRecords } from './calls/cluster-operations.ts';
export { Cluster, type ClusterState } from './cluster.ts';
export type { RunRecords } from './runs/run-records.ts';
export type { Heir } from './loss/losses.ts';
export type { SharedQueues } from './runs/shared-queues.ts';
export type { Member } from './members/member.ts';
