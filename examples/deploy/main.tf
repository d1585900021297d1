# Deploys the stack with Terraform. Package with `npm run package -- --s3-uri s3://BUCKET/tidemark/VERSION`, put dist/stack there, and then `terraform apply`.
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "bucket" {
  description = "Bucket of this region with the packages"
  type        = string
}

variable "tidemark_version" {
  type    = string
  default = "0.2.0"
}

variable "permissions_boundary" {
  description = "ARN of the policy that bounds each role"
  type        = string
}

variable "alarm_topic" {
  description = "ARN of the SNS topic that receives every alarm"
  type        = string
}

data "aws_region" "current" {}

data "aws_partition" "current" {}

resource "aws_cloudformation_stack" "tidemark" {
  name         = "tidemark-prod"
  template_url = "https://${var.bucket}.s3.${data.aws_region.current.name}.${data.aws_partition.current.dns_suffix}/tidemark/${var.tidemark_version}/template.json"
  capabilities = ["CAPABILITY_NAMED_IAM"]

  parameters = {
    NamePrefix          = "tidemark-prod"
    AlarmTopicArn       = var.alarm_topic
    PermissionsBoundary = var.permissions_boundary
    RolePath            = "/platform/"
    MaximumConcurrency  = 80
  }

  tags = {
    team        = "platform"
    cost-centre = "42"
  }
}

# Give this role an access entry in each EKS cluster.
output "sync_role_arn" {
  value = aws_cloudformation_stack.tidemark.outputs["SyncRoleArn"]
}
