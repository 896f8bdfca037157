import type { FileStore } from './file-store.ts';
import { FolderFiles } from './folder-files.ts';
import { S3Files } from './s3-files.ts';

/**
 * The file store of a node.
 *
 * @param folder of the files, or for those on their way
 * @param url `s3://KEY:SECRET@host[:port]/bucket[/prefix]?region=...&tls=false`; undefined: the folder
 * @throws TypeError for a URL of another form
 */
export function openFiles(folder: string, url?: string): FileStore {
  if (url === undefined) return new FolderFiles(folder);
  const { protocol, username, password, host, pathname, searchParams } = new URL(url);
  const path = pathname.replace(/\/+$/, '');
  if (protocol !== 's3:' || username === '' || password === '' || path === '') {
    throw new TypeError('The URL of a file store has the form s3://KEY:SECRET@host/bucket.');
  }
  const scheme = searchParams.get('tls') === 'false' ? 'http' : 'https';
  return new S3Files(
    {
      url: `${scheme}://${host}${path}`,
      accessKeyId: decodeURIComponent(username),
      secretAccessKey: decodeURIComponent(password),
      region: searchParams.get('region') ?? 'us-east-1',
    },
    folder,
  );
}
