/**
 * svc-runtime-storage: results and inputs that do not fit inline. A tool uploads a large result and returns its
 * reference; a leader resolves references. See docs/storage.md.
 */

export { BlobIdEncoder } from "./blob-id.js";
export type { Deadlines, RetryOptions } from "./deadline.js";
export type { EndpointOptions, SecretHeaders } from "./http/endpoint.js";
export { FileJournal } from "./journal/file-journal.js";
export type { UploadEntry, UploadJournal, UploadState } from "./journal/journal.js";
export { type Paid, StorageError, type StorageErrorFacts, type StorageFault } from "./storage-error.js";
export { type BlobOrigin, StoredBlob, type StoredBlobFacts } from "./stored-blob.js";
export { ByteBudget, WalrusReader, type WalrusReaderOptions } from "./walrus-reader.js";
export {
  MAX_UPLOAD_BYTES,
  type UnreturnedUpload,
  type UploadOptions,
  WalrusStorage,
  type WalrusStorageOptions,
} from "./walrus-storage.js";
