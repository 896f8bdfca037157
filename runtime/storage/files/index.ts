export * from './file-store.ts';
export { FolderFiles } from './folder-files.ts';
export { openFiles } from './open-files.ts';
