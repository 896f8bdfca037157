/** Content-addressed file storage: in a folder or an S3 bucket. */
export * from './file-store.ts';
export { FolderFiles } from './folder-files.ts';
export { checkFileStore } from './store-check.ts';
export { openFiles } from './open-files.ts';
export { S3Bucket, s3Location } from './s3-bucket.ts';
