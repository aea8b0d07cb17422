module torg/clients

go 1.19

require (
	connectrpc.com/connect v1.11.0
	golang.org/x/net v0.17.0
	google.golang.org/genproto/googleapis/rpc v0.0.0-20230525234030-28d5490b6b19
	google.golang.org/protobuf v1.31.0
)

require golang.org/x/text v0.13.0 // indirect
