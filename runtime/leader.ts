/** svc-runtime/leader: the client that calls tools, which is the package svc-client. */

export * from "svc-client";
