/** Chooses the file store by configuration. */
import type { FileStore } from './file-store.ts';
import { FolderFiles } from './folder-files.ts';
import { S3Bucket, s3Location } from './s3-bucket.ts';
import { S3Files } from './s3-files.ts';

/**
 * The file store of a node.
 *
 * @param folder of the files; with a URL, of unfinished uploads only
 * @param url `s3://KEY:SECRET@host[:port]/bucket[/prefix]?region=...&tls=false`; undefined: the folder
 * @throws TypeError for a URL of another form
 */
export function openFiles(folder: string, url?: string): FileStore {
  if (url === undefined) return new FolderFiles(folder);
  return new S3Files(new S3Bucket(s3Location(url), 'RINGMASTER_FILES'), folder);
}
