import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenOnLoopback } from "../../../lib/embedded/host/loopback.ts";

/** A server that answers DescribeStacks as CloudFormation does. The answers were recorded. */
export interface CloudFormation {
  readonly url: string;
  /** Region of the signature, and the body of each request. */
  readonly asked: string[];
  answer: { status: number; body: string };
  close(): Promise<void>;
}

const NAMESPACE = 'xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"';

export const stackAnswer = (
  outputs: Readonly<Record<string, string>>,
  state = "UPDATE_COMPLETE",
  parameters: Readonly<Record<string, string>> = {},
): CloudFormation["answer"] => {
  const given = Object.entries(parameters).map(
    ([key, value]) =>
      `<member><ParameterKey>${key}</ParameterKey><ParameterValue>${value}</ParameterValue></member>`,
  );
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue><ExportName>sls-tidemark-prod-${key}</ExportName></member>`,
  );
  const stack = `<StackName>tidemark-prod</StackName><CreationTime>2026-11-01T10:00:00.000Z</CreationTime><StackStatus>${state}</StackStatus><Parameters>${given.join("")}</Parameters><Outputs>${members.join("")}</Outputs>`;
  return {
    status: 200,
    body: `<DescribeStacksResponse ${NAMESPACE}><DescribeStacksResult><Stacks><member>${stack}</member></Stacks></DescribeStacksResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></DescribeStacksResponse>`,
  };
};

export const errorAnswer = (
  status: number,
  code: string,
  message: string,
): CloudFormation["answer"] => ({
  status,
  body: `<ErrorResponse ${NAMESPACE}><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
});

export const startCloudFormation = async (): Promise<CloudFormation> => {
  const asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(
      `${request.headers.authorization?.split("/")[2]} ${/Credential=(\w+)/.exec(request.headers.authorization ?? "")?.[1]} ${await text(request)}`,
    );
    response
      .writeHead(service.answer.status, { "content-type": "text/xml" })
      .end(service.answer.body);
  };
  const server = createServer((request, response) => void answer(request, response));
  const url = await listenOnLoopback(server);
  const service: CloudFormation = {
    url,
    asked,
    answer: stackAnswer({}),
    close: () => closeServer(server),
  };
  return service;
};
